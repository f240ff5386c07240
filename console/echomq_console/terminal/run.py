"""Starting the app."""

from __future__ import annotations


def run_app(
    *,
    url: str,
    job_ms: int,
    handler: str | None,
    read_only: bool,
    stalled_ms: int | None = None,
    title: str | None = None,
) -> int:
    """Run the terminal app until the operator leaves it; returns the exit status.

    `url` is parsed, and the server greeted, after the first paint: whoever starts the app has checked it. Raises what
    the app could not survive, once the terminal is as it was.
    """
    from echomq_console.model.finding import Thresholds

    from .app import ConsoleApp, Start

    thresholds = Thresholds(job_ms=job_ms) if stalled_ms is None else Thresholds(job_ms=job_ms, stalled_ms=stalled_ms)
    app = ConsoleApp(Start(url, _without_password(url), thresholds, handler, read_only, title))
    app.run()
    if app.crash is not None:
        raise app.crash
    return app.return_code or 0


def _without_password(url: str) -> str:
    """Show a URL without its password; the parser proper loads the client library, and the first paint comes first."""
    scheme, sep, rest = url.partition("://")
    credentials, at, place = rest.rpartition("@")
    user = credentials.partition(":")[0]
    shown = f"{user}@{place}" if at and user else place
    return f"{scheme}{sep}{shown.partition('?')[0]}"
