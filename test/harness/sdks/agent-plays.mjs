// What an agent does with each MCP client of npm, in the client's own words: lists the tools, calls one that answers
// and one that is refused. Runs in the folder where the packages are installed: `node agent-plays.mjs CLIENT URL KEY`;
// prints what it got as JSON.

const [client, url, key] = process.argv.slice(2);
const headers = { 'x-api-key': key };
const me = { name: 'agent', version: '1' };
const wrong = { spec: { insightType: 'INSIGHT_TYPE_TRENDS' } };

/** With `Client` and `Transport` of either generation of the kit. */
async function play(Client, Transport, options) {
  const agent = new Client(me, options);
  await agent.connect(new Transport(new URL(url), { requestInit: { headers } }));
  const { tools } = await agent.listTools();
  const schema = await agent.callTool({ name: 'describe_schema', arguments: {} });
  const refused = await agent.callTool({ name: 'query_insight', arguments: wrong });
  await agent.close();
  return { tools: tools.map(({ name }) => name), schema, refused };
}

const plays = {
  async first() {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import(
      '@modelcontextprotocol/sdk/client/streamableHttp.js'
    );
    return play(Client, StreamableHTTPClientTransport);
  },
  async second() {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    return play(Client, StreamableHTTPClientTransport);
  },
  async negotiating() {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const versionNegotiation = { mode: 'auto' };
    return play(Client, StreamableHTTPClientTransport, { versionNegotiation });
  },
  async vercel() {
    const { createMCPClient } = await import('@ai-sdk/mcp');
    const agent = await createMCPClient({ transport: { type: 'http', url, headers } });
    const tools = await agent.tools();
    const call = (name, args) => tools[name].execute(args, { toolCallId: name, messages: [] });
    const schema = await call('describe_schema', {});
    const refused = await call('query_insight', wrong);
    await agent.close();
    return { tools: Object.keys(tools), schema, refused };
  },
};

process.stdout.write(JSON.stringify(await plays[client]()));
