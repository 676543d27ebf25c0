/**
 * The state directory: `sandboxes/<id>/` and `containers/<id>/`, each with `config.pb` (the request, written once) and
 * `state.json` (replaced by rename, so a crash leaves the old or the new version). Directories are created and removed
 * by rename: `.new-*` and `.gone-*` are incomplete and deleted at start. Unreadable directories are moved to `aside/`
 * and never fatal.
 */
import fs from "node:fs";
import path from "node:path";
import { ContainerConfig, LinuxContainerResources, PodSandboxConfig } from "../gen/cri.ts";
import { readStateFile } from "./readStateFile.ts";
import type { ContainerPhase, ContainerRecord, SandboxRecord } from "./records.ts";
import { messageOf } from "../grpcServer/rpcFault.ts";
import { makeDirectoriesSync } from "../fileSystem/makeDirectories.ts";
import { replaceFile } from "./replaceFile.ts";

type Kind = "sandboxes" | "containers";

/** The records found by `load`. */
export interface LoadedState {
  readonly sandboxes: readonly SandboxRecord[];
  readonly containers: readonly ContainerRecord[];
  /** Directories moved aside: former path, new path and reason. */
  readonly setAside: readonly { readonly from: string; readonly to: string; readonly reason: string }[];
}

/** Access to a state directory. Its only writers are this object and the containers' supervisors. */
export interface StateFiles {
  readonly root: string;
  containerDir(id: string): string;
  /** Creates the directory of a record; `prepare` fills it before it becomes visible. */
  addSandbox(record: SandboxRecord): void;
  addContainer(record: ContainerRecord, prepare: (dir: string) => Promise<void>): Promise<void>;
  saveSandbox(record: SandboxRecord): void;
  saveContainer(record: ContainerRecord): void;
  /** Removes a record at once, then deletes its files. */
  remove(kind: Kind, id: string): Promise<void>;
  load(): Promise<LoadedState>;
}

const STATE = "state.json";
const CONFIG = "config.pb";

/** Opens the state directory; creates it with mode 0700 if missing. */
export function openStateFiles(root: string): StateFiles {
  for (const dir of [root, path.join(root, "sandboxes"), path.join(root, "containers"), path.join(root, "aside")]) {
    makeDirectoriesSync(dir, 0o700);
  }
  fs.chmodSync(root, 0o700);
  const dirOf = (kind: Kind, id: string): string => path.join(root, kind, id);
  const fresh = (kind: Kind, id: string): string => {
    const dir = path.join(root, kind, `.new-${id}`);
    fs.mkdirSync(dir, { mode: 0o700 });
    return dir;
  };
  return {
    root,
    containerDir: (id) => dirOf("containers", id),
    addSandbox: (record) => {
      const dir = fresh("sandboxes", record.id);
      fs.writeFileSync(path.join(dir, CONFIG), PodSandboxConfig.encode(record.config).finish(), { mode: 0o600 });
      replaceFile(path.join(dir, STATE), sandboxState(record));
      fs.renameSync(dir, dirOf("sandboxes", record.id));
    },
    addContainer: async (record, prepare) => {
      const dir = fresh("containers", record.id);
      try {
        fs.writeFileSync(path.join(dir, CONFIG), ContainerConfig.encode(record.config).finish(), { mode: 0o600 });
        replaceFile(path.join(dir, STATE), containerState(record));
        await prepare(dir);
        fs.renameSync(dir, dirOf("containers", record.id));
      } catch (thrown) {
        fs.rmSync(dir, { recursive: true, force: true });
        throw thrown;
      }
    },
    saveSandbox: (record) => replaceFile(path.join(dirOf("sandboxes", record.id), STATE), sandboxState(record)),
    saveContainer: (record) => replaceFile(path.join(dirOf("containers", record.id), STATE), containerState(record)),
    remove: async (kind, id) => {
      const gone = path.join(root, kind, `.gone-${id}`);
      fs.renameSync(dirOf(kind, id), gone);
      await fs.promises.rm(gone, { recursive: true, force: true, maxRetries: 3 });
    },
    load: () => load(root),
  };
}

const sandboxState = (record: SandboxRecord): string =>
  JSON.stringify({ createdAt: String(record.createdAt), ready: record.ready, ip: record.ip });

function containerState(record: ContainerRecord): string {
  const { phase, resources } = record;
  return JSON.stringify({
    sandboxId: record.sandboxId,
    logPath: record.logPath,
    createdAt: String(record.createdAt),
    phase: { ...phase, ...instants(phase) },
    ...(resources === undefined
      ? {}
      : { resources: Buffer.from(LinuxContainerResources.encode(resources).finish()).toString("base64") }),
  });
}

function instants(phase: ContainerPhase): Readonly<Record<string, string>> {
  switch (phase.kind) {
    case "created":
      return {};
    case "running":
      return { startedAt: String(phase.startedAt) };
    case "exited":
      return { startedAt: String(phase.startedAt), finishedAt: String(phase.finishedAt) };
  }
}

async function load(root: string): Promise<LoadedState> {
  const setAside: { from: string; to: string; reason: string }[] = [];
  const readAll = async <T>(kind: Kind, read: (dir: string, id: string) => T): Promise<T[]> => {
    const records: T[] = [];
    for (const id of fs.readdirSync(path.join(root, kind)).sort()) {
      const dir = path.join(root, kind, id);
      if (id.startsWith(".new-") || id.startsWith(".gone-")) {
        await fs.promises.rm(dir, { recursive: true, force: true });
        continue;
      }
      try {
        records.push(read(dir, id));
      } catch (thrown) {
        const to = path.join(root, "aside", `${kind}-${id}-${Date.now()}`);
        fs.renameSync(dir, to);
        setAside.push({ from: dir, to, reason: messageOf(thrown) });
      }
    }
    return records;
  };
  return {
    sandboxes: await readAll("sandboxes", readSandbox),
    containers: await readAll("containers", readContainer),
    setAside,
  };
}

/** Returns a field of parsed JSON. Checks its type, because files on disk may have any content. */
function field<T>(document: unknown, name: string, is: (value: unknown) => value is T): T {
  const value: unknown =
    typeof document === "object" && document !== null ? (document as Record<string, unknown>)[name] : undefined;
  if (!is(value)) throw new Error(`${STATE}: ${name} is missing or of the wrong type`);
  return value;
}
const isString = (value: unknown): value is string => typeof value === "string";
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isDigits = (value: unknown): value is string => isString(value) && /^\d{1,19}$/.test(value);
const isReason = (value: unknown): value is "Completed" | "Error" | "StartError" =>
  value === "Completed" || value === "Error" || value === "StartError";

const parseState = (dir: string): unknown => JSON.parse(readStateFile(path.join(dir, STATE)).toString());

function readSandbox(dir: string, id: string): SandboxRecord {
  const state = parseState(dir);
  const config = PodSandboxConfig.decode(readStateFile(path.join(dir, CONFIG)));
  if (config.metadata === undefined) throw new Error(`${CONFIG}: metadata is missing`);
  return {
    id,
    config,
    createdAt: BigInt(field(state, "createdAt", isDigits)),
    ready: field(state, "ready", isBoolean),
    ip: field(state, "ip", isString),
  };
}

function readContainer(dir: string, id: string): ContainerRecord {
  const state = parseState(dir);
  const config = ContainerConfig.decode(readStateFile(path.join(dir, CONFIG)));
  if (config.metadata === undefined) throw new Error(`${CONFIG}: metadata is missing`);
  const resources = (state as { readonly resources?: unknown }).resources;
  return {
    id,
    sandboxId: field(state, "sandboxId", isString),
    config,
    logPath: field(state, "logPath", isString),
    createdAt: BigInt(field(state, "createdAt", isDigits)),
    phase: readPhase(field(state, "phase", isObject)),
    resources: isString(resources)
      ? LinuxContainerResources.decode(Buffer.from(resources, "base64"))
      : config.linux?.resources,
  };
}

function readPhase(phase: object): ContainerPhase {
  const kind = field(phase, "kind", isString);
  if (kind === "created") return { kind };
  const startedAt = BigInt(field(phase, "startedAt", isDigits));
  if (kind === "running") return { kind, pid: field(phase, "pid", isInteger), startedAt };
  if (kind !== "exited") throw new Error(`${STATE}: phase.kind "${kind}" is unknown`);
  return {
    kind,
    startedAt,
    finishedAt: BigInt(field(phase, "finishedAt", isDigits)),
    exitCode: field(phase, "exitCode", isInteger),
    reason: field(phase, "reason", isReason),
    message: field(phase, "message", isString),
  };
}
