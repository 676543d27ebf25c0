/**
 * Query parameters of `/exec`, `/attach` and `/portForward`, and the paths that may be upgraded. Upstream: NewOptions
 * and NewV4Options of cri-streaming.
 */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** The requested streams of a process. */
export interface ProcessStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Returns the streams; a terminal has stdout only. Errors: InvalidArgument when no stream is requested. */
export function processStreams(query: URLSearchParams): Result<ProcessStreams> {
  const isSet = (name: string): boolean => query.get(name) === "1";
  const tty = isSet("tty");
  const streams = { stdin: isSet("input"), stdout: isSet("output"), stderr: isSet("error") && !tty, tty };
  if (streams.stdin || streams.stdout || streams.stderr) return ok(streams);
  return err(kubeletError("InvalidArgument", "you must specify at least 1 of stdin, stdout, stderr"));
}

/** Each port uses two channels, and a channel number is one byte. */
const MAX_PORTS = 128;

/**
 * Returns the ports of a WebSocket in order, from one or more `port=80,81`. SPDY names the port on each stream instead.
 */
export function forwardedPorts(query: URLSearchParams): Result<readonly number[]> {
  const texts = query.getAll("port");
  if (texts.length === 0) return invalid('query parameter "port" is required');
  const ports: number[] = [];
  for (const text of texts) {
    if (text === "") return invalid('query parameter "port" cannot be empty');
    for (const part of text.split(",")) {
      const port = /^\d+$/.test(part) ? Number(part) : Number.NaN;
      if (Number.isNaN(port) || port > 65_535) {
        const why = `strconv.ParseUint: parsing ${JSON.stringify(part)}: ${Number.isNaN(port) ? "invalid syntax" : "value out of range"}`;
        return invalid(`unable to parse ${JSON.stringify(text)} as a port: ${why}`);
      }
      if (port < 1) return invalid(`port ${JSON.stringify(text)} must be > 0`);
      if (ports.length === MAX_PORTS) return invalid(`query parameter "port" names more than ${MAX_PORTS} ports`);
      ports.push(port);
    }
  }
  return ok(ports);
}

const invalid = (message: string): Result<never> => err(kubeletError("InvalidArgument", message));

/** Returns whether connections below this path may be upgraded; elsewhere the Upgrade header is ignored. */
export const isStreamPath = (path: string): boolean => /^\/(exec|attach|portForward)\//.test(path);

/** Returns whether a request opens a WebSocket; any other upgrade is SPDY. */
export const isWebSocket = (upgrade: string | undefined): boolean => upgrade?.toLowerCase() === "websocket";
