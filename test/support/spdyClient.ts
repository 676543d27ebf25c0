/** A client of streams by SPDY/3.1: the upgrade, then the connection. */
import { request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { openSpdy, type SpdyConnection } from "../../src/streaming/spdyConnection.ts";

/** The connection and the protocol that was agreed on; rejects with the refusal's code and text. */
export function connectSpdy(
  url: string,
  protocols: readonly string[],
): Promise<{ readonly connection: SpdyConnection; readonly protocol: string; readonly socket: Socket }> {
  return new Promise((resolve, reject) => {
    const headers = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": protocols.join(", ") };
    const request = httpRequest(url, { method: "POST", headers, agent: false });
    request.on("error", reject);
    request.on("response", (answer) => {
      let text = "";
      answer.on("data", (part) => (text += String(part)));
      answer.on("end", () => reject(new Error(`${answer.statusCode} ${text.trim()}`)));
    });
    request.on("upgrade", (answer, socket: Socket, head) => {
      const protocol = String(answer.headers["x-stream-protocol-version"]);
      resolve({ connection: openSpdy(socket, "client", { head }), protocol, socket });
    });
    request.end();
  });
}
