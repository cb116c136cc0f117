"""What tests of several stores share."""

from urllib.request import Request, urlopen

import pytest


@pytest.fixture
def s3(monkeypatch):
    """A real S3 endpoint on loopback with an empty bucket, `pictures`; gives a client of it."""
    # Here, for every process that collects tests would import them.
    import boto3  # noqa: PLC0415 - see above
    import s3fs  # noqa: PLC0415 - see above
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - see above

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    client = boto3.client("s3")
    client.create_bucket(Bucket="pictures")
    yield client
    urlopen(Request(f"http://{host}:{port}/moto-api/reset", method="POST")).close()
    server.stop()
    s3fs.S3FileSystem.clear_instance_cache()
