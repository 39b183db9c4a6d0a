"""A client of the handshake era: the Python SDK 1.x. The same plan and the same report as `legacy.mjs`."""

import asyncio
import json
import sys

from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamablehttp_client


async def main(plan):
    headers = {"authorization": f"Bearer {plan['key']}"}
    async with streamablehttp_client(plan["url"], headers=headers) as (read, write, _):
        async with ClientSession(read, write) as session:
            hello = await session.initialize()
            tools = (await session.list_tools()).tools
            results = []
            for call in plan["calls"]:
                try:
                    result = await session.call_tool(call["name"], call["arguments"])
                    results.append(shown(result))
                except McpError as error:
                    results.append({"thrown": error.error.message, "code": error.error.code})
            print(json.dumps({"server": hello.serverInfo.name, "tools": [shown(tool) for tool in tools], "results": results}))


def shown(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


asyncio.run(main(json.loads(sys.argv[1])))
