"""The Helm values are what dagster-k8s and Kubernetes take, as far as shows without a cluster."""

import re
from importlib.metadata import version
from pathlib import Path

import dagster as dg
import pytest
import yaml
from dagster._config import process_config, resolve_to_config_type

from resources.execution.executors import build_executor

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
current-context: none
users: [{name: none, user: {}}]
"""
VALUES = Path(__file__).parents[1] / "kubernetes/values.yaml"


@pytest.fixture(scope="module")
def values():
    return yaml.safe_load(VALUES.read_text())


def to_snake(value):
    """Names as the chart's templates write them in dagster.yaml."""
    return {re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", k): v for k, v in value.items()}


def process(schema, config):
    """The config with its defaults; fails with Dagster's errors."""
    result = process_config(resolve_to_config_type(schema), config)
    assert result.success, [error.message for error in result.errors]
    return result.value


@pytest.mark.slow
def test_the_run_launcher_makes_jobs_of_kubernetes_from_the_values(values, tmp_path):
    from dagster_k8s import K8sRunLauncher  # noqa: PLC0415 - an extra, for slow tests alone
    from dagster_k8s.container_context import K8sContainerContext  # noqa: PLC0415
    from dagster_k8s.job import construct_dagster_k8s_job  # noqa: PLC0415
    from kubernetes.client import ApiClient  # noqa: PLC0415

    launcher = to_snake(values["runLauncher"]["config"]["k8sRunLauncher"])
    launcher["run_k8s_config"] = to_snake(launcher["run_k8s_config"])
    rendered = launcher | {
        "load_incluster_config": True,
        "service_account_name": "dagster",
        "instance_config_map": "dagster-instance",
        "postgres_password_secret": "dagster-postgresql-secret",
    }
    config = process(K8sRunLauncher.config_type(), rendered)
    with pytest.raises(AssertionError):
        process(K8sRunLauncher.config_type(), rendered | {"run_k8_config": {}})
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    outside = {"load_incluster_config": False, "kubeconfig_file": str(tmp_path / "kubeconfig")}
    run_launcher = K8sRunLauncher.from_config_value(None, config | outside)

    [deployment] = values["dagster-user-deployments"]["deployments"]
    # What a deployment hands to the runs of its code, where its config is to be included.
    assert deployment["includeConfigInLaunchedRuns"] == {"enabled": True}
    image = f"{deployment['image']['repository']}:{deployment['image']['tag']}"
    context = K8sContainerContext.create_from_config(
        {
            "k8s": {
                "env_secrets": [secret["name"] for secret in deployment["envSecrets"]],
                "env_vars": [f"{name}={value}" for name, value in deployment["env"].items()],
                "run_k8s_config": config["run_k8s_config"],
            }
        }
    )
    job = construct_dagster_k8s_job(
        context.get_k8s_job_config(image, run_launcher),
        args=["dagster", "api", "execute_run"],
        job_name="run",
        user_defined_k8s_config=context.run_k8s_config,
    )
    spec = ApiClient().sanitize_for_serialization(job)["spec"]
    pod = spec["template"]["spec"]
    [container] = pod["containers"]
    assert (spec["backoffLimit"], spec["ttlSecondsAfterFinished"]) == (0, 86400)
    assert pod["terminationGracePeriodSeconds"] == 120
    assert container["image"] == image
    assert container["resources"]["limits"] == {"cpu": "4", "memory": "8Gi"}
    assert {"secretRef": {"name": "counterfactory"}} in container["envFrom"]
    assert {"name": "COUNTERFACTORY_EXECUTOR", "value": "multiprocess"} in container["env"]


def test_the_instance_watches_runs_and_limits_pools(values, tmp_path):
    config = {
        "run_monitoring": to_snake(values["dagsterDaemon"]["runMonitoring"]),
        "telemetry": values["telemetry"],
        **values["additionalInstanceConfig"],
    }
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(config))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert instance.run_monitoring_enabled
        assert instance.run_monitoring_start_timeout_seconds == 600
        assert instance.run_monitoring_max_resume_run_attempts == 0
        assert instance.global_op_concurrency_default_limit == 2
        assert not instance.telemetry_enabled


@pytest.mark.slow
def test_the_executor_k8s_takes_a_limit_of_pods(monkeypatch):
    monkeypatch.setenv("COUNTERFACTORY_EXECUTOR", "k8s")
    definition = build_executor(dict, [])
    assert definition.name == "k8s"
    config = process(definition.config_schema.config_type, {"max_concurrent": 4})
    assert config["max_concurrent"] == 4
    assert version("dagster-k8s").startswith("0.29.")
