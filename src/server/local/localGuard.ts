/**
 * Lets the clients of the local socket in. A client asks for a challenge, proves its user by a file, and gets the token of
 * a session for its further requests. Owns the sessions. Bounds: MAX_SESSIONS sessions, each for SESSION_MS.
 */
import type { Context, MiddlewareHandler } from "hono";
import { firstValueFrom } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { type LocalPeer, SESSION_PATH } from "../../core/local/localSocket.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LocalPeers } from "../../ports/localPeers.ts";
import type { Rng } from "../../ports/random.ts";
import type { Logger } from "../../ports/telemetry.ts";
import { lastAnswer } from "../lastAnswer.ts";

const MAX_SESSIONS = 256;
/** A request under way goes on after the end of its session. */
const SESSION_MS = 3_600_000;

export interface LocalGuardOptions {
  readonly peers: LocalPeers;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly rng: Pick<Rng, "uuid">;
  readonly log: Pick<Logger, "info" | "warn">;
}

/** The guard of the local socket. */
export interface LocalGuard {
  /** Answers requests for sessions, and rejects others without one. */
  readonly letIn: MiddlewareHandler;
  /** Returns the client of a request that was let in. */
  peerOf(context: Context): LocalPeer;
}

/** Creates the guard. */
export function localGuard({ peers, clock, rng, log }: LocalGuardOptions): LocalGuard {
  const sessions = new Map<string, { readonly peer: LocalPeer; readonly until: number }>();
  const sessionOf = (context: Context): LocalPeer | undefined => {
    const [, token = ""] = /^Bearer ([0-9a-f]{64})$/.exec(context.req.header("authorization") ?? "") ?? [];
    const found = sessions.get(token);
    if (found === undefined || clock.monotonicMs() <= found.until) return found?.peer;
    sessions.delete(token);
    return undefined;
  };
  const begin = (peer: LocalPeer): string => {
    const token = `${rng.uuid()}${rng.uuid()}`.replaceAll("-", "");
    sessions.set(token, { peer, until: clock.monotonicMs() + SESSION_MS });
    const [oldest] = sessions.keys();
    if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
    return token;
  };
  const answerSession = async (context: Context): Promise<Response> => {
    if (context.req.method !== "POST") return context.text("405: Method Not Allowed\n", 405);
    const challenge = context.req.query("challenge");
    if (challenge === undefined) return context.json({ challenge: peers.challenge() });
    try {
      const peer = await firstValueFrom(peers.identify(challenge));
      log.info("Local client", { uid: peer.uid, gid: peer.gid });
      return context.json({ token: begin(peer) });
    } catch (thrown) {
      const { message } = toKubeletError(thrown);
      log.warn("Local client refused", { reason: message });
      return context.text(`${message}\n`, 403, lastAnswer(context));
    }
  };
  return {
    letIn: async (context, next) => {
      if (context.req.path === SESSION_PATH) return answerSession(context);
      if (sessionOf(context) !== undefined) return next();
      return context.text("this socket needs a session: use the commands of rxlet\n", 401, lastAnswer(context));
    },
    peerOf: (context) => {
      const peer = sessionOf(context);
      if (peer === undefined) throw new Error("the request has no session");
      return peer;
    },
  };
}
