/**
 * The runtime's state in memory: records by id, and of a container what watches it. Owner of every record: changes go
 * through `put*`, which also persist, and `drop*`. A change that cannot be persisted is reported and counts all the
 * same: what a container does can be found out again from its processes. Names are reserved while a create is under way, so that of two
 * equal requests one fails. Bound: what clients create and do not remove.
 */
import { randomBytes } from "node:crypto";
import { status } from "@grpc/grpc-js";
import type { ContainerProcess, OutputWatcher } from "./containerProcess.ts";
import type { CriLog } from "./criLog.ts";
import type { ContainerRecord, SandboxRecord } from "./records.ts";
import { invalidArgument, messageOf, notFound, RpcFault } from "./rpcFault.ts";
import type { StateFiles } from "./stateFiles.ts";

/** A container as held in memory; `record` is replaced, the rest is about this runtime process only. */
export interface LiveContainer {
  record: ContainerRecord;
  process: ContainerProcess | undefined;
  log: CriLog | undefined;
  /** Resolves once the record says exited; undefined before the start. */
  exited: Promise<void> | undefined;
  /** The stop signal was sent: it is sent once. */
  stopSignalled: boolean;
  removal: Promise<void> | undefined;
  /** Kill functions of execs under way. */
  readonly execs: Set<() => void>;
  /** Clients that are attached to its outputs. */
  readonly watchers: Set<OutputWatcher>;
  /** The writing end of its input, see `containerInput.ts`. */
  heldInput: number | undefined;
  /** CPU time seen so far: it never goes back, although a process that ended unseen takes its own away. */
  cpu: { readonly at: bigint; readonly totalNs: bigint; readonly nanoCores: bigint | undefined };
}

/** See the file header. */
export interface Registry {
  readonly sandboxes: ReadonlyMap<string, SandboxRecord>;
  readonly containers: ReadonlyMap<string, LiveContainer>;
  /** The sandbox of this id or unique beginning of an id; undefined when there is none. */
  findSandbox(id: string): SandboxRecord | undefined;
  findContainer(id: string): LiveContainer | undefined;
  /** As `find`, but NOT_FOUND is thrown. */
  sandbox(id: string): SandboxRecord;
  container(id: string): LiveContainer;
  containersOf(sandboxId: string): readonly LiveContainer[];
  putSandbox(record: SandboxRecord): void;
  putContainer(record: ContainerRecord): void;
  /** Puts in a container that is on disk already. */
  addContainer(record: ContainerRecord): LiveContainer;
  addSandbox(record: SandboxRecord): void;
  dropSandbox(id: string): void;
  dropContainer(id: string): void;
  /** Runs `create` while holding a name; ALREADY_EXISTS when somebody has or is getting it. */
  withName<T>(name: string, holder: () => string | undefined, create: () => T): T;
}

/** A new random id: 64 hexadecimal digits, as container runtimes have them. */
export const newId = (): string => randomBytes(32).toString("hex");

/** An empty registry over these files; `report` hears of changes that cannot be written. */
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
