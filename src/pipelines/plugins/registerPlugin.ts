/**
 * Registers the plugin behind one socket: asks what it is, lets the handler of its type decide, and tells the plugin the
 * outcome. Bounds: a deadline for each step; a failed attempt is repeated after upstream's backoff.
 * Upstream: GenerateRegisterPluginFunc of pkg/kubelet/pluginmanager/operationexecutor. Differs: a plugin stays registered
 * while its notification fails and is repeated; upstream deregisters it in between.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, type Observable, of, switchMap, throwError } from "rxjs";
import { kubeletError, type KubeletError, toKubeletError } from "../../core/errors.ts";
import type { PluginSocket } from "../../core/plugins/pluginSockets.ts";
import { noHandler, pluginOfAnswer, type RegisteredPlugin } from "../../core/plugins/registeredPlugins.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { BackoffCurve } from "../../operators/backoffDelay.ts";
import { deadline } from "../../operators/deadline.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { PluginRegistration, RegistrationOutcome } from "../../ports/plugins.ts";
import type { PluginHandler, PluginHandlers } from "./pluginHandlers.ts";

const BACKOFF: BackoffCurve = { initialMs: 500, maxMs: 122_000 };
/** A handler may ask the plugin for more. */
const ADMISSION_DEADLINE_MS = 30_000;

/** Ports of a registration. */
export type RegistrationPorts = Pick<KubeletPorts, "clock" | "rng" | "telemetry"> & {
  readonly registration: PluginRegistration;
};

/**
 * Emits the plugin once it is registered, then completes. Never errors: an attempt that fails is repeated.
 *
 *     GetInfo        --#        --i
 *     handler                     -----|
 *     registerPlugin ------------------(p|)
 *     Notify                           --#  --|
 */
export function registerPlugin(
  socket: PluginSocket,
  handlers: PluginHandlers,
  ports: RegistrationPorts,
): Observable<RegisteredPlugin> {
  const { registration, telemetry } = ports;
  const { path } = socket;
  const notify = (outcome: RegistrationOutcome): Observable<never> =>
    defer(() => registration.notify(path, outcome)).pipe(ignoreElements());
  const logUnheard = (registered: boolean, error: KubeletError, delayMs?: number): void =>
    telemetry.log.warn("Failed to tell a plugin the outcome of its registration", {
      ...{ socket: path, registered, error },
      ...(delayMs !== undefined && { delayMs }),
    });
  const refuse = (error: KubeletError): Observable<never> =>
    concat(
      notify({ pluginRegistered: false, error: error.message }).pipe(
        catchError((thrown: unknown) => {
          logUnheard(false, toKubeletError(thrown));
          return EMPTY;
        }),
      ),
      throwError(() => error),
    );
  const accept$ = notify({ pluginRegistered: true, error: "" }).pipe(
    retryWithBackoff(BACKOFF, ports, ({ error, delayMs }) => logUnheard(true, error, delayMs)),
  );
  return defer(() => registration.getInfo(path)).pipe(
    switchMap((answer) => {
      const decided = decide(pluginOfAnswer(answer, socket), handlers);
      if (!decided.ok) return refuse(decided.error);
      const { plugin, handler } = decided.value;
      const admission$ = defer(() => handler.admit?.(plugin) ?? EMPTY).pipe(
        ignoreElements(),
        deadline(ADMISSION_DEADLINE_MS, ports.clock),
        catchError((thrown: unknown) => refuse(registrationFailed(thrown))),
      );
      return concat(admission$, of(plugin), accept$);
    }),
    retryWithBackoff(BACKOFF, ports, ({ error, delayMs }) =>
      telemetry.log.warn("Failed to register a plugin", { socket: path, error, delayMs }),
    ),
  );
}

interface Decided {
  readonly plugin: RegisteredPlugin;
  readonly handler: PluginHandler;
}

function decide(described: Result<RegisteredPlugin>, handlers: PluginHandlers): Result<Decided> {
  if (!described.ok) return described;
  const plugin = described.value;
  const handler = handlers[plugin.type];
  if (handler === undefined) return err(noHandler(plugin.type, plugin.socket));
  const refusal = handler.refusalOf(plugin);
  if (refusal === undefined) return ok({ plugin, handler });
  return err(kubeletError("Rejected", `RegisterPlugin error -- plugin validation failed with err: ${refusal}`));
}

/** Returns the failure of a handler, in upstream's words. */
function registrationFailed(thrown: unknown): KubeletError {
  const error = toKubeletError(thrown);
  return { ...error, message: `RegisterPlugin error -- plugin registration failed with err: ${error.message}` };
}
