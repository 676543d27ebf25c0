/**
 * `/exec`, `/attach` and `/portForward`: the runtime returns the URL of the stream, and the connection is forwarded
 * there, translated (`translateUpgrade.ts`, `tunnelUpgrade.ts`) for WebSocket protocols that the runtime lacks. `/run`:
 * returns the complete output of a command. Upstream: getExec, getAttach, getPortForward, getRun in
 * pkg/kubelet/server/server.go.
 */
import type { Context, Hono } from "hono";
import { firstValueFrom } from "rxjs";
import type { Pod } from "../core/api.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../core/errors.ts";
import { type PodPath, podOf, readySandbox, runningContainer, terminalOf } from "../core/server/podTargets.ts";
import { forwardedPorts, isWebSocket, type ProcessStreams, processStreams } from "../core/server/streamOptions.ts";
import { AttachRequest, ExecRequest, ExecSyncRequest, PortForwardRequest } from "../gen/cri.ts";
import { fullNameOf } from "../core/ids.ts";
import { ok, valueOf } from "../core/result.ts";
import type { Call } from "../ports/call.ts";
import type { RuntimeService } from "../ports/cri.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { allowLongAnswer, whileWanted } from "./longAnswer.ts";
import { serviceRoute } from "./onlyMethods.ts";
import { tracedCall } from "./traceRequests.ts";
import { podPathOf, POD_AND_CONTAINER, POD_PATHS } from "./podPaths.ts";
import { CLOSE_SIGNAL_PROTOCOL, offeredProtocols, tunnelledProtocols } from "../streaming/subprotocols.ts";
import type { ServerBindings, UpgradeRequest } from "./serverBindings.ts";

/** Runtime calls used by the routes. */
export type StreamRuntime = Pick<RuntimeService, "exec" | "attach" | "portForward" | "execSync">;

export interface StreamRoutesOptions {
  readonly queries: Pick<KubeletQueries, "pods" | "runtimePods">;
  readonly runtime: StreamRuntime;
  readonly telemetry: Pick<Telemetry, "metrics">;
  /** Feature gate ExtendWebSocketsToKubelet: translates WebSocket protocols that the runtime does not support. */
  readonly gates: { readonly extendWebSockets: boolean };
}

const STREAM_METHODS = ["GET", "POST"];

/** Adds the streaming routes in all forms of their URLs. */
export function addStreamRoutes(app: Hono, options: StreamRoutesOptions): void {
  const { queries, runtime } = options;
  for (const path of POD_AND_CONTAINER) {
    serviceRoute(app, STREAM_METHODS, `/exec${path}`, (context) =>
      commandStream(context, options, "exec", (pod, target, streams) => {
        const { id } = valueOf(runningContainer(queries.runtimePods(), pod, target.container ?? ""));
        const cmd = queryOf(context).getAll("command");
        return runtime.exec(ExecRequest.create({ containerId: id, cmd, ...streams }), tracedCall(context));
      }),
    );
    serviceRoute(app, STREAM_METHODS, `/attach${path}`, (context) =>
      commandStream(context, options, "attach", (pod, target, streams) =>
        runtime.attach(attachRequest(queries, pod, target.container ?? "", streams), tracedCall(context)),
      ),
    );
    serviceRoute(app, ["POST"], `/run${path}`, (context) => run(context, options));
  }
  for (const path of POD_PATHS) {
    serviceRoute(app, STREAM_METHODS, `/portForward${path}`, (context) => portForwardStream(context, options));
  }
}

/** Opens an exec or attach stream. The query is validated before the pod is looked up, as in upstream. */
function commandStream(
  context: Context,
  options: StreamRoutesOptions,
  subresource: "exec" | "attach",
  open: (pod: Pod, target: PodPath, streams: ProcessStreams) => Call<{ readonly url: string }>,
): Promise<Response> {
  const streams = processStreams(queryOf(context));
  if (!streams.ok) return Promise.resolve(context.body(streams.error.message, 400));
  const isTranslated =
    options.gates.extendWebSockets && asksFor(context, (offered) => offered.includes(CLOSE_SIGNAL_PROTOCOL));
  return streamed(
    context,
    options.queries,
    (pod, target) => open(pod, target, streams.value),
    (upgrade, url) => {
      if (!isTranslated) return upgrade.proxyTo(url);
      options.telemetry.metrics.count("kubelet_websocket_streaming_requests_total", { subresource });
      return upgrade.translateTo(url, streams.value);
    },
  );
}

function portForwardStream(context: Context, options: StreamRoutesOptions): Promise<Response> {
  const { queries, runtime, gates, telemetry } = options;
  const isTunnel = gates.extendWebSockets && asksFor(context, (offered) => tunnelledProtocols(offered).length > 0);
  const namesPorts = !isTunnel && isWebSocket(context.req.header("upgrade"));
  const ports = namesPorts ? forwardedPorts(queryOf(context)) : ok([]);
  if (!ports.ok) return Promise.resolve(context.body(ports.error.message, 400));
  return streamed(
    context,
    queries,
    (pod, { uid }) => {
      if (uid !== undefined && uid !== pod.metadata.uid) throw kubeletError("NotFound", "pod not found");
      const podSandboxId = valueOf(readySandbox(queries.runtimePods(), pod));
      const request = PortForwardRequest.create({ podSandboxId, port: [...ports.value] });
      return runtime.portForward(request, tracedCall(context));
    },
    (upgrade, url) => {
      if (!isTunnel) return upgrade.proxyTo(url);
      telemetry.metrics.count("kubelet_websocket_streaming_requests_total", { subresource: "portforward" });
      return upgrade.tunnelTo(url);
    },
  );
}

const asksFor = (context: Context, matches: (offered: readonly string[]) => boolean): boolean =>
  isWebSocket(context.req.header("upgrade")) && matches(offeredProtocols(context.req.header("sec-websocket-protocol")));

const queryOf = (context: Context): URLSearchParams => new URL(context.req.url).searchParams;

/** Builds the attach request. The terminal setting comes from the container, because it was fixed at creation. */
function attachRequest(
  queries: Pick<KubeletQueries, "runtimePods">,
  pod: Pod,
  name: string,
  streams: ProcessStreams,
): AttachRequest {
  const missing = `container ${name} not found in pod ${fullNameOf(pod.metadata)}`;
  const { id } = valueOf(runningContainer(queries.runtimePods(), pod, name, missing));
  const tty = terminalOf(pod, name);
  if (tty === undefined) throw kubeletError("Unknown", missing);
  return AttachRequest.create({ containerId: id, ...streams, tty });
}

/** Requests the stream from the runtime and forwards the connection to it. */
async function streamed(
  context: Context,
  queries: Pick<KubeletQueries, "pods">,
  open: (pod: Pod, target: PodPath) => Call<{ readonly url: string }>,
  handOn: (upgrade: UpgradeRequest, url: URL) => Promise<void>,
): Promise<Response> {
  const { upgrade } = context.env as ServerBindings;
  try {
    const target = podPathOf(context);
    const pod = valueOf(podOf(queries.pods(), target));
    const opening$ = open(pod, target);
    if (upgrade === undefined) return context.body("Upgrade request required\n", 500);
    const { url } = await firstValueFrom(opening$);
    await handOn(upgrade, new URL(url));
    return context.body(null);
  } catch (thrown) {
    return refusal(context, toKubeletError(thrown));
  }
}

async function run(context: Context, { queries, runtime }: StreamRoutesOptions): Promise<Response> {
  try {
    const target = podPathOf(context);
    const pod = valueOf(podOf(queries.pods(), target));
    const { id } = valueOf(runningContainer(queries.runtimePods(), pod, target.container ?? ""));
    const cmd = (queryOf(context).get("cmd") ?? "").split(" ");
    allowLongAnswer(context);
    const request = ExecSyncRequest.create({ containerId: id, cmd });
    const answer = await firstValueFrom(runtime.execSync(request, tracedCall(context)).pipe(whileWanted(context)));
    const { stdout, stderr, exitCode } = answer;
    if (exitCode !== 0) {
      const said = new TextDecoder().decode(stderr);
      return context.body(`command '${cmd.join(" ")}' exited with ${exitCode}: ${said}`, 500);
    }
    return context.body(Buffer.concat([stdout, stderr]), 200, { "content-type": "application/json" });
  } catch (thrown) {
    return refusal(context, toKubeletError(thrown));
  }
}

/** Retry-After in seconds: a stream slot of the runtime is free again after this time. */
const RETRY_AFTER_SECONDS = "60";

/** Maps an error to the HTTP status of upstream's WriteError in cri-streaming. */
function refusal(context: Context, { code, message }: KubeletError): Response {
  switch (code) {
    case "NotFound":
      return context.body(message, 404);
    case "ResourceExhausted":
      return context.body(message, 429, { "retry-after": RETRY_AFTER_SECONDS });
    default:
      return context.body(message, 500);
  }
}
