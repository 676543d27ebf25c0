/** Answers of flexVolume drivers: JSON on their output. Upstream: handleCmdResponse of pkg/volume/flexvolume/driver-call.go. */
import { type KubeletError, kubeletError } from "../errors.ts";
import { goQuote } from "../container/goJson.ts";

/** Calls that the kubelet makes. */
export type FlexCommand =
  | "init"
  | "attach"
  | "detach"
  | "waitforattach"
  | "mountdevice"
  | "unmountdevice"
  | "mount"
  | "unmount"
  | "expandfs";

/** The abilities that a driver has unless it says otherwise. */
export interface FlexCapabilities {
  /** Volumes are attached to a node, and mounted there once for all pods. */
  readonly attach: boolean;
  /** The runtime labels the files of volumes, on a node with SELinux. */
  readonly selinuxRelabel: boolean;
  /** The space of its file systems is measured. */
  readonly supportsMetrics: boolean;
  /** The kubelet gives volumes to the group of the pod. */
  readonly fsGroup: boolean;
  /** The node expands the file system after the controller has expanded the volume (`expandvolume`). */
  readonly requiresFSResize: boolean;
}

/** A driver that answered `init`. */
export interface FlexDriver {
  /** `vendor/driver`. */
  readonly name: string;
  readonly capabilities: FlexCapabilities;
}

export type FlexDriverMap = ReadonlyMap<string, FlexDriver>;

export const NO_FLEX_DRIVERS: FlexDriverMap = new Map();

/** The end of a call. */
export type FlexOutcome =
  | { readonly kind: "done"; readonly device: string; readonly capabilities: FlexCapabilities }
  /** The driver lacks this call. */
  | { readonly kind: "notSupported" }
  | { readonly kind: "failed"; readonly error: KubeletError };

/** Output of a driver that has exited. */
export interface FlexOutput {
  readonly printed: string;
  /** Exit status or signal of a driver that failed. */
  readonly failure?: string;
}

const DEFAULTS: FlexCapabilities = {
  attach: true,
  selinuxRelabel: true,
  supportsMetrics: false,
  fsGroup: true,
  requiresFSResize: true,
};

const MAX_SHOWN_CHARS = 200;
const MAX_DEVICE_CHARS = 4096;

const failed = (message: string): FlexOutcome => ({ kind: "failed", error: kubeletError("Io", message) });

/** Reads the answer to a call; whatever a driver prints is a value. */
export function flexOutcome(command: FlexCommand, { printed, failure }: FlexOutput): FlexOutcome {
  const answer = parsed(printed);
  if (answer === undefined) {
    const shown = printed.length > MAX_SHOWN_CHARS ? `${printed.slice(0, MAX_SHOWN_CHARS)}...` : printed;
    const how = failure === undefined ? "" : `, ${failure}`;
    return failed(`${command} command failed, invalid output: ${goQuote(shown)}${how}`);
  }
  const { status, message, device } = answer;
  if (status === "Not supported") return { kind: "notSupported" };
  if (status !== "Success") return failed(`${command} command failed, status: ${status}, reason: ${message}`);
  // A driver that fails has not succeeded, whatever it says, as upstream.
  if (failure !== undefined) return failed(failure);
  if (device.length > MAX_DEVICE_CHARS || device.includes("\0")) {
    return failed(`${command} command failed, invalid device in its answer`);
  }
  return { kind: "done", device, capabilities: answer.capabilities };
}

interface Answer {
  readonly status: string;
  readonly message: string;
  readonly device: string;
  readonly capabilities: FlexCapabilities;
}

/** Returns undefined for anything but an object whose known fields have their types; names match in any case, as in Go. */
function parsed(printed: string): Answer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(printed);
  } catch {
    return undefined;
  }
  const fields = lowerCased(value);
  if (fields === undefined) return undefined;
  const text = (name: string): string | undefined => {
    const found = fields.get(name) ?? "";
    return typeof found === "string" ? found : undefined;
  };
  const [status, message, device] = [text("status"), text("message"), text("device")];
  const capabilities = capabilitiesOf(fields.get("capabilities"));
  if (status === undefined || message === undefined || device === undefined || capabilities === undefined) {
    return undefined;
  }
  return { status, message, device, capabilities };
}

function capabilitiesOf(value: unknown): FlexCapabilities | undefined {
  if (value === undefined || value === null) return DEFAULTS;
  const fields = lowerCased(value);
  if (fields === undefined) return undefined;
  const read = Object.entries(DEFAULTS).map(
    ([name, usual]) => [name, fields.get(name.toLowerCase()) ?? usual] as const,
  );
  return read.every(([, flag]) => typeof flag === "boolean")
    ? (Object.fromEntries(read) as unknown as FlexCapabilities)
    : undefined;
}

const lowerCased = (value: unknown): ReadonlyMap<string, unknown> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? new Map(Object.entries(value).map(([name, field]) => [name.toLowerCase(), field]))
    : undefined;
