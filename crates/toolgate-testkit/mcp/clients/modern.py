"""A client of the stateless era: the Python SDK 2.x, told to speak 2026-07-28 and nothing else. The same plan and the
same report as `legacy.mjs`."""

import asyncio
import json
import sys

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


async def main(plan):
    if "command" in plan:
        return await walk(plan, StdioServerParameters(command=plan["command"], args=plan["args"], env=plan["env"]))
    headers = {"authorization": f"Bearer {plan['key']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        await walk(plan, streamable_http_client(plan["url"], http_client=http))


async def walk(plan, server):
    async with Client(server, mode="2026-07-28") as client:
        tools = (await client.list_tools()).tools
        results = []
        for call in plan["calls"]:
            try:
                results.append(shown(await client.call_tool(call["name"], call["arguments"])))
            except MCPError as error:
                results.append({"thrown": error.error.message, "code": error.error.code})
        print(json.dumps({"tools": [shown(tool) for tool in tools], "results": results}))


def shown(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


asyncio.run(main(json.loads(sys.argv[1])))
