/**
 * Authenticates and authorizes each request, and answers rejected requests as upstream does. Every 401, and a
 * 403 for an anonymous user, ends the connection.
 * Upstream: InstallAuthFilter in pkg/kubelet/server/server.go.
 */
import type { Context, MiddlewareHandler } from "hono";
import { firstValueFrom } from "rxjs";
import {
  type AttributeRules,
  authorizationErrorText,
  forbiddenText,
  requestAttributes,
} from "../../core/auth/requestAttributes.ts";
import { ANONYMOUS, type RequestUser } from "../../core/auth/requestUser.ts";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger, Metrics } from "../../ports/telemetry.ts";
import { peerGroup } from "../../core/server/connectionToClose.ts";
import { lastAnswer } from "../lastAnswer.ts";
import { whileWanted } from "../longAnswer.ts";
import type { ServerBindings } from "../serverBindings.ts";
import type { Authenticate } from "./authenticate.ts";
import type { Authorize } from "./authorize.ts";
import { peerOf } from "./peerCertificate.ts";

export interface GuardOptions {
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly rules: AttributeRules;
  readonly clock: Pick<Clock, "wallTime">;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Returns the middleware that runs before every route. */
export function guard({ authenticate, authorize, rules, clock, log, metrics }: GuardOptions): MiddlewareHandler {
  const mayGoOn = async (context: Context, user: RequestUser): Promise<Response | undefined> => {
    const attributes = requestAttributes(context.req, rules);
    const { verb, subresources } = attributes;
    for (const subresource of subresources) {
      const answer = await settled(
        firstValueFrom(authorize({ user, verb, subresource }).pipe(whileWanted(context)), { defaultValue: false }),
      );
      if (!answer.ok) {
        if (isTooMany(answer.error)) return tooManyRequests(context);
        log.error("Authorization error", { logger: "server", user: user.name, verb, subresource, error: answer.error });
        return context.body(authorizationErrorText(user.name, verb, subresource), 500);
      }
      if (answer.value) return undefined;
    }
    log.debug("guard", "Forbidden", { user: user.name, verb, subresources });
    return context.body(forbiddenText(user.name, attributes), 403, user === ANONYMOUS ? lastAnswer(context) : {});
  };
  return async (context, next) => {
    const { incoming, connection } = context.env as ServerBindings;
    const now = clock.wallTime();
    const peer = peerOf(incoming.socket);
    if (peer.certificate !== undefined) {
      metrics.observe("apiserver_client_certificate_expiration_seconds", (peer.notAfter - now) / 1_000);
    }
    const answer = await settled(
      firstValueFrom(
        authenticate({
          headers: {
            authorization: context.req.header("authorization"),
            webSocketProtocols: context.req.header("sec-websocket-protocol"),
          },
          certificate: peer.notAfter < now || connection?.isStale === true ? "unknown" : peer.certificate,
          peer: peerGroup(incoming.socket.remoteAddress),
        }).pipe(whileWanted(context)),
        { defaultValue: undefined },
      ),
    );
    if (!answer.ok) {
      if (isTooMany(answer.error)) return tooManyRequests(context);
      log.error("Unable to authenticate the request due to an error", { logger: "server", error: answer.error });
    }
    const user = answer.ok ? answer.value : undefined;
    if (user === undefined) return context.body("Unauthorized", 401, lastAnswer(context));
    const refusal = await mayGoOn(context, user);
    if (refusal !== undefined) return refusal;
    if (user !== ANONYMOUS && connection?.admit("tokens") === false) {
      return context.body("too many connections\n", 503, { ...lastAnswer(context), "retry-after": "1" });
    }
    return next();
  };
}

const isTooMany = ({ code }: KubeletError): boolean => code === "ResourceExhausted";

/** The 429 response of an API server. */
const tooManyRequests = (context: Context): Response =>
  context.body("Too many requests, please try again later.\n", 429, { ...lastAnswer(context), "retry-after": "1" });

const settled = <T>(answer: Promise<T>): Promise<Result<T>> =>
  answer.then(ok, (thrown: unknown) => err(toKubeletError(thrown)));
