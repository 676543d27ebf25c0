/**
 * The runtime's own record of its work: the CRI calls in containerd's log at level info, with begin and end by its own
 * clock. The one place where both sides of a measurement meet. Reads what was appended since the last read.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** A CRI call of a pod. Times are wall time in milliseconds. */
export interface RuntimeCall {
  readonly method: CallName;
  /** Container or sandbox; empty where only the answer tells. */
  readonly id: string;
  /** The container of a CreateContainer call. */
  readonly attempt: number;
  readonly beganAt: number;
  endedAt: number | undefined;
}

export type CallName =
  | "RunPodSandbox"
  | "CreateContainer"
  | "StartContainer"
  | "StopContainer"
  | "StopPodSandbox"
  | "RemoveContainer"
  | "RemovePodSandbox";

/** The calls about one pod, in the order they began. */
export interface LoggedPod {
  readonly uid: string;
  readonly calls: RuntimeCall[];
}

const METHODS =
  /^(RunPodSandbox|CreateContainer|StartContainer|StopContainer|StopPodSandbox|RemoveContainer|RemovePodSandbox) /;
const CHUNK_BYTES = 1 << 16;

/** Follows the log of the containerd whose private folder this is. */
export class RuntimeLog {
  readonly #file: number;
  readonly #pods = new Map<string, LoggedPod>();
  readonly #podOfId = new Map<string, LoggedPod>();
  #rest = "";

  constructor(containerdFolder: string) {
    this.#file = openSync(join(containerdFolder, "containerd.log"), "r");
  }

  /** Calls about a pod so far; `name` as the runtime knows it. */
  pod(name: string): LoggedPod | undefined {
    this.#readOn();
    return this.#pods.get(name);
  }

  /** The first ended call of a kind, if any. */
  ended(name: string, method: CallName, attempt = 0): RuntimeCall | undefined {
    const calls = this.pod(name)?.calls.filter((call) => call.method === method && call.endedAt !== undefined) ?? [];
    return calls[attempt];
  }

  close(): void {
    closeSync(this.#file);
  }

  #readOn(): void {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    for (;;) {
      const length = readSync(this.#file, buffer, 0, CHUNK_BYTES, null);
      if (length === 0) return;
      const lines = (this.#rest + buffer.toString("utf8", 0, length)).split("\n");
      this.#rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line);
    }
  }

  #take(line: string): void {
    const [, time, quoted] = /^time="([^"]+)" level=\w+ msg="((?:[^"\\]|\\.)*)"/.exec(line) ?? [];
    if (time === undefined || quoted === undefined) return;
    const text = quoted.replaceAll('\\"', '"');
    const method = METHODS.exec(text)?.[1] as CallName | undefined;
    if (method === undefined) return;
    const at = Date.parse(time.replace(/(\.\d{3})\d*/, "$1")) + Number(`0.${/\.\d{3}(\d*)/.exec(time)?.[1] || "0"}`);
    const id = /"([0-9a-f]{64})"/.exec(text)?.[1] ?? "";
    const pod = this.#podOf(text, id);
    if (pod === undefined) return;
    const attempt = Number(/Attempt:(\d+)/.exec(text)?.[1] ?? 0);
    if (!/ returns /.test(text)) {
      pod.calls.push({ method, id, attempt, beganAt: at, endedAt: undefined });
      return;
    }
    const made = / returns (?:sandbox|container) id "([0-9a-f]{64})"/.exec(text)?.[1];
    if (made !== undefined) this.#podOfId.set(made, pod);
    const open = pod.calls.find(
      (call) => call.method === method && call.endedAt === undefined && (call.id === id || call.id === ""),
    );
    if (open !== undefined) open.endedAt = at;
  }

  #podOf(text: string, id: string): LoggedPod | undefined {
    const [, name, uid] = /^RunPodSandbox .*Name:([^,]+),Uid:([^,]+),/.exec(text) ?? [];
    if (name === undefined || uid === undefined) return this.#podOfId.get(id);
    const known = this.#pods.get(name);
    if (known !== undefined) return known;
    const pod = { uid, calls: [] };
    this.#pods.set(name, pod);
    return pod;
  }
}

/** Milliseconds the runtime spent in the ended calls of these kinds. */
export function spentIn(pod: LoggedPod | undefined, methods: readonly CallName[]): number {
  const calls = pod?.calls.filter((call) => methods.includes(call.method) && call.endedAt !== undefined) ?? [];
  return calls.reduce((sum, call) => sum + (call.endedAt ?? call.beganAt) - call.beganAt, 0);
}
