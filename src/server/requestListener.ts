/**
 * Adapts an app to the listener of an HTTP/1.1 or HTTP/2 server. A failure of the adapter closes only the connection
 * concerned.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { peerGroup } from "../core/server/connectionToClose.ts";
import { inStage } from "../operators/loopStage.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import type { AnswerBudget } from "./answerBudget.ts";
import type { Connections } from "./connections.ts";
import { failedTask } from "./failedTask.ts";
import { requestStage } from "./requestStage.ts";

/** Receives each request. */
export type RequestListener = (
  incoming: IncomingMessage | Http2ServerRequest,
  outgoing: ServerResponse | Http2ServerResponse,
) => void;

/** Creates the listener. */
export function requestListener(
  app: Pick<Hono, "fetch">,
  connections: Connections,
  answers: AnswerBudget,
  telemetry: Telemetry,
): RequestListener {
  const failed = failedTask(telemetry, "answer");
  const answer = getRequestListener(
    async (request, bindings) => {
      const { incoming, outgoing } = bindings;
      const { socket } = incoming;
      const peer = peerGroup(socket.remoteAddress);
      const answered = await app.fetch(request, { ...bindings, connection: connections.of(socket) });
      return answers.guard(answered, peer, outgoing, failed);
    },
    { overrideGlobalObjects: false },
  );
  return (incoming, outgoing) => {
    const done = connections.of(incoming.socket)?.work();
    if (done !== undefined) outgoing.once("close", done);
    const answered = inStage(requestStage(incoming.method, incoming.url), () => answer(incoming, outgoing));
    answered.catch((thrown: unknown) => {
      failed(thrown);
      outgoing.destroy();
    });
  };
}
