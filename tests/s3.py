"""A real S3 endpoint on loopback, which notes requests and may go away or refuse some."""


class S3Server:
    """A real S3 endpoint on loopback, which notes requests and may go away or refuse some."""

    def __init__(self):
        self.port, self.requests = 0, []
        self.refuses = lambda _method, _query: False
        self.refusal = ("AccessDenied", "no right")
        self.start()

    def start(self):
        """Start it, or start it again with what it held, at the address that it had."""
        # Here, for every process that collects tests would import them.
        from moto.server import ThreadedMotoServer  # noqa: PLC0415 - see above

        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=self.port, verbose=False)
        self._server.start()
        _, self.port = self._server.get_host_and_port()
        self._answer, self._server._server.app = self._server._server.app, self._note

    def stop(self):
        """Refuse all connections."""
        self._server.stop()

    def _note(self, environ, start_response):
        method, query = environ["REQUEST_METHOD"], environ["QUERY_STRING"]
        if not environ["PATH_INFO"].startswith("/moto-api"):
            self.requests.append(f"LIST {query}" if "list-type" in query else method)
        if self.refuses(method, query):
            start_response("403 Forbidden", [])
            code, message = self.refusal
            return [f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()]
        return self._answer(environ, start_response)
