// A server that answers as a test says.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { addressOf } from "../src/core/address.ts";
import { Client } from "../src/core/client.ts";

export type Handler = (request: IncomingMessage, body: string, response: ServerResponse) => void;

/** Run with a client of a server that answers by `handler`. */
export async function asked(
  handler: Handler,
  run: (client: Client, port: number) => Promise<void>,
  milliseconds = 5000,
): Promise<void> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => (body += part));
    request.on("end", () => handler(request, body, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await run(new Client(addressOf("127.0.0.1", port, false), milliseconds), port);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

export const answers =
  (status: number, body: unknown): Handler =>
  (_request, _body, response) => {
    response
      .writeHead(status, { "content-type": "application/json" })
      .end(typeof body === "string" ? body : JSON.stringify(body));
  };
