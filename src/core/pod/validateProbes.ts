/** Validates probes and lifecycle handlers. */
import type { Container } from "../api.ts";
import { type FieldProblems, forbidden, invalid, invalidEach, required, unsupported } from "./fieldProblem.ts";
import { httpHeaderName, portName, portNumber } from "./validateFormats.ts";

type Probe = NonNullable<Container["livenessProbe"]>;
type Lifecycle = NonNullable<Container["lifecycle"]>;
type Handler = NonNullable<Lifecycle["postStart"]> & Pick<Probe, "grpc">;

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;
const SCHEMES = ["HTTP", "HTTPS"];
const COUNTS = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

/** Validates the three probes of a container at `path`. */
export function* validateProbes(
  container: Pick<Container, "livenessProbe" | "readinessProbe" | "startupProbe">,
  graceSeconds: number | undefined,
  path: string,
): FieldProblems {
  for (const key of ["livenessProbe", "readinessProbe", "startupProbe"] as const) {
    const probe = container[key];
    if (probe === undefined) continue;
    const at = `${path}.${key}`;
    yield* validateProbe(probe, graceSeconds, at);
    if (key === "readinessProbe") {
      if (probe.terminationGracePeriodSeconds !== undefined) {
        const detail = "must not be set for readinessProbes";
        yield invalid(`${at}.terminationGracePeriodSeconds`, probe.terminationGracePeriodSeconds, detail);
      }
    } else if (probe.successThreshold !== 1)
      yield invalid(`${at}.successThreshold`, probe.successThreshold, "must be 1");
  }
}

function* validateProbe(probe: Probe, graceSeconds: number | undefined, path: string): FieldProblems {
  yield* validateHandler(probe, graceSeconds, path);
  for (const key of COUNTS) {
    const count = probe[key] ?? 0;
    if (count < 0) yield invalid(`${path}.${key}`, count, "must be greater than or equal to 0");
  }
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0) {
    yield invalid(`${path}.terminationGracePeriodSeconds`, grace, "must be greater than 0");
  }
}

/** Validates the lifecycle hooks of a container. Its `stopSignal` is checked when the container is created. */
export function* validateLifecycle(
  lifecycle: Lifecycle | undefined,
  graceSeconds: number | undefined,
  path: string,
): FieldProblems {
  if (lifecycle?.postStart !== undefined)
    yield* validateHandler(lifecycle.postStart, graceSeconds, `${path}.postStart`);
  if (lifecycle?.preStop !== undefined) yield* validateHandler(lifecycle.preStop, graceSeconds, `${path}.preStop`);
}

function* validateHandler(handler: Handler, graceSeconds: number | undefined, path: string): FieldProblems {
  const given = HANDLERS.filter((key) => handler[key] !== undefined);
  if (given.length === 0) yield required(path, "must specify a handler type");
  for (const key of given.slice(1)) yield forbidden(`${path}.${key}`, "may not specify more than 1 handler type");
  const at = `${path}.${given[0] ?? ""}`;
  switch (given[0]) {
    case undefined:
      return;
    case "exec":
      if ((handler.exec?.command ?? []).length === 0) yield required(`${at}.command`);
      return;
    case "httpGet":
      yield* validateHttpGet(handler.httpGet ?? { port: 0 }, at);
      return;
    case "tcpSocket":
      yield* validatePort(handler.tcpSocket?.port ?? 0, `${at}.port`);
      return;
    case "grpc":
      yield* validatePort(handler.grpc?.port ?? 0, `${at}.port`);
      return;
    case "sleep": {
      const seconds = handler.sleep?.seconds ?? 0;
      if (graceSeconds !== undefined && (seconds < 0 || seconds > graceSeconds)) {
        const detail = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
        yield invalid(at, seconds, detail);
      }
      return;
    }
  }
}

function* validateHttpGet(get: NonNullable<Handler["httpGet"]>, path: string): FieldProblems {
  if ((get.path ?? "") === "") yield required(`${path}.path`);
  yield* validatePort(get.port ?? 0, `${path}.port`);
  const scheme = get.scheme ?? "";
  if (!SCHEMES.includes(scheme)) yield unsupported(`${path}.scheme`, scheme, SCHEMES);
  for (const header of get.httpHeaders ?? []) {
    yield* invalidEach(`${path}.httpHeaders`, header.name ?? "", httpHeaderName(header.name ?? ""));
  }
}

function validatePort(port: number | string, path: string): FieldProblems {
  return invalidEach(path, port, typeof port === "number" ? portNumber(port) : portName(port));
}
