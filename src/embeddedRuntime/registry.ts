/**
 * State of the runtime in memory: records by ID, and the supervision state of each container. Owns every record: `put*`
 * changes and persists it, `drop*` removes it. A change that cannot be persisted is reported but still applied, because
 * the container's state can be recovered from its processes. A create in progress reserves its name, so that one of two
 * equal requests fails. Bound: what clients create and do not remove.
 */
import { randomBytes } from "node:crypto";
import { status } from "@grpc/grpc-js";
import type { ContainerProcess, OutputWatcher } from "./containerProcess.ts";
import type { CriLog } from "./criLog.ts";
import type { ContainerRecord, SandboxRecord } from "./records.ts";
import { invalidArgument, messageOf, notFound, RpcFault } from "../grpcServer/rpcFault.ts";
import type { StateFiles } from "./stateFiles.ts";

/** A container in memory. `record` is replaced on change; the other fields are local to this runtime process. */
export interface LiveContainer {
  record: ContainerRecord;
  process: ContainerProcess | undefined;
  log: CriLog | undefined;
  /** Resolves when the record is exited; undefined before the start. */
  exited: Promise<void> | undefined;
  /** Whether the stop signal, which is sent only once, was sent. */
  stopSignalled: boolean;
  removal: Promise<void> | undefined;
  /** Kill functions of the running execs. */
  readonly execs: Set<() => void>;
  /** Attached clients. */
  readonly watchers: Set<OutputWatcher>;
  /** The writing end of stdin; see `containerInput.ts`. */
  heldInput: number | undefined;
  /**
   * CPU usage so far. It never decreases, although processes that exit between two readings take their CPU time with
   * them.
   */
  cpu: { readonly at: bigint; readonly totalNs: bigint; readonly nanoCores: bigint | undefined };
}

/** The records of the runtime. See the file header. */
export interface Registry {
  readonly sandboxes: ReadonlyMap<string, SandboxRecord>;
  readonly containers: ReadonlyMap<string, LiveContainer>;
  /** Returns the sandbox with this ID or unique ID prefix; undefined if there is none. */
  findSandbox(id: string): SandboxRecord | undefined;
  findContainer(id: string): LiveContainer | undefined;
  /** Like `find*`, but throws NOT_FOUND. */
  sandbox(id: string): SandboxRecord;
  container(id: string): LiveContainer;
  containersOf(sandboxId: string): readonly LiveContainer[];
  putSandbox(record: SandboxRecord): void;
  putContainer(record: ContainerRecord): void;
  /** Adds a container that is already on disk. */
  addContainer(record: ContainerRecord): LiveContainer;
  addSandbox(record: SandboxRecord): void;
  dropSandbox(id: string): void;
  dropContainer(id: string): void;
  /** Runs `create` while the name is reserved. Throws ALREADY_EXISTS if the name is in use or reserved. */
  withName<T>(name: string, holder: () => string | undefined, create: () => T): T;
}

/** Returns a random ID of 64 hexadecimal digits, like other container runtimes. */
export const newId = (): string => randomBytes(32).toString("hex");

/** Creates an empty registry that persists to `files`; `report` receives write failures. */
export function createRegistry(files: StateFiles, report: (line: string) => void): Registry {
  const sandboxes = new Map<string, SandboxRecord>();
  const containers = new Map<string, LiveContainer>();
  const reserved = new Set<string>();
  const persist = (what: string, save: () => void): void => {
    try {
      save();
    } catch (thrown) {
      report(`${what}: its state cannot be written: ${messageOf(thrown)}`);
    }
  };
  const registry: Registry = {
    sandboxes,
    containers,
    findSandbox: (id) => lookUp(sandboxes, "pod_sandbox_id", id),
    findContainer: (id) => lookUp(containers, "container_id", id),
    sandbox: (id) => {
      const found = registry.findSandbox(id);
      if (found === undefined) throw notFound("sandbox", id);
      return found;
    },
    container: (id) => {
      const found = registry.findContainer(id);
      if (found === undefined) throw notFound("container", id);
      return found;
    },
    containersOf: (sandboxId) => [...containers.values()].filter(({ record }) => record.sandboxId === sandboxId),
    putSandbox: (record) => {
      sandboxes.set(record.id, record);
      persist(`sandbox ${record.id}`, () => files.saveSandbox(record));
    },
    putContainer: (record) => {
      const live = containers.get(record.id);
      if (live === undefined) return;
      live.record = record;
      persist(`container ${record.id}`, () => files.saveContainer(record));
    },
    addSandbox: (record) => void sandboxes.set(record.id, record),
    addContainer: (record) => {
      const live = newLiveContainer(record);
      containers.set(record.id, live);
      return live;
    },
    dropSandbox: (id) => void sandboxes.delete(id),
    dropContainer: (id) => void containers.delete(id),
    withName: (name, holder, create) => {
      const holding = holder() ?? (reserved.has(name) ? "a request under way" : undefined);
      if (holding !== undefined) {
        throw new RpcFault(status.ALREADY_EXISTS, `name "${name}" is reserved for ${holding}`);
      }
      reserved.add(name);
      const release = (): void => void reserved.delete(name);
      let made: ReturnType<typeof create>;
      try {
        made = create();
      } catch (thrown) {
        release();
        throw thrown;
      }
      if (made instanceof Promise) made.then(release, release);
      else release();
      return made;
    },
  };
  return registry;
}

const newLiveContainer = (record: ContainerRecord): LiveContainer => ({
  record,
  process: undefined,
  log: undefined,
  exited: undefined,
  stopSignalled: false,
  removal: undefined,
  execs: new Set(),
  watchers: new Set(),
  heldInput: undefined,
  cpu: { at: 0n, totalNs: 0n, nanoCores: undefined },
});

function lookUp<T>(records: ReadonlyMap<string, T>, field: string, id: string): T | undefined {
  if (id === "") throw invalidArgument(field, "an id is required");
  const exact = records.get(id);
  if (exact !== undefined) return exact;
  const beginnings = [...records.keys()].filter((key) => key.startsWith(id));
  return beginnings.length === 1 ? records.get(beginnings[0] ?? "") : undefined;
}
