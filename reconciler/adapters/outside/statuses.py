"""The port `Statuses`: the API of the code host that keeps the repository."""

from dataclasses import dataclass

import orjson

from reconciler.adapters.outside.exchange import Exchange, Question
from reconciler.adapters.outside.posting import post, secret_of
from reconciler.core.code_hosts import Hosted, Unhosted, proof_of, request_of
from reconciler.model.errors import Misconfigured
from reconciler.model.notifications import Verdict


@dataclass(frozen=True, slots=True)
class Signboard:
    """Where statuses are set and under which name; the token is read at each of them."""

    hosted: Hosted
    context: str
    token_file: str
    target_url: str = ""


class HttpStatuses:
    """Sets statuses at one repository of one code host."""

    def __init__(self, exchange: Exchange, board: Signboard) -> None:
        self._exchange = exchange
        self._board = board

    @property
    def kind(self) -> str:
        """Which kind of code host."""
        return str(self._board.hosted.host)

    async def set(self, verdict: Verdict) -> None:
        """Set the status of a commit. Raises Unavailable, Denied, Misconfigured."""
        board = self._board
        try:
            request = request_of(board.hosted, verdict, board.context, board.target_url)
        except Unhosted as error:
            raise Misconfigured(str(error)) from error
        token = secret_of(board.token_file, "the token for commit statuses")
        headers = {**request.headers, **proof_of(board.hosted.host, token)}
        body = orjson.dumps(request.body)
        await post(self._exchange, Question(self.kind, request.url, headers, body))

    async def close(self) -> None:
        """End what is open."""
        await self._exchange.close()
