/** The calls to Docker that the shim makes, with their answers read. Each rejects with an EngineFault. */
import { notFound } from "../grpcServer/rpcFault.ts";
import { containerDetails, containerSummaries, engineInfo } from "./engine/answers.ts";
import type { ContainerDetails, ContainerSummary, EngineInfo } from "./engine/answers.ts";
import type { Engine } from "./engine/engine.ts";
import { garbled, isConflict, isNotFound } from "./engine/engineFault.ts";
import { fieldsOf, textOf } from "./engine/fields.ts";
import { LABEL, SANDBOX } from "./mapping/names.ts";

/** Labels that listed containers have. */
export type LabelFilter = Readonly<Record<string, string>>;

/** More about a list. */
export interface ListOptions {
  readonly withSizes?: boolean;
  /** The whole id. */
  readonly id?: string;
  /** Docker's words for states, any of which fits. */
  readonly states?: readonly string[];
}

/** See the file header. */
export interface DockerCalls {
  readonly engine: Engine;
  info(): Promise<EngineInfo>;
  /** Resolves when Docker serves requests. Not its `/info`: Docker 20.10 holds that back while a pull looks up a registry. */
  answers(): Promise<void>;
  /** Containers with all of these labels, in any state. */
  list(labels: LabelFilter, options?: ListOptions): Promise<readonly ContainerSummary[]>;
  /** Rejects with NOT_FOUND for a container that is none of the shim's, whose type is another, or that is unknown. */
  inspect(kind: "sandbox" | "container", id: string): Promise<ContainerDetails>;
  /** Inspects as `inspect` does; undefined instead of NOT_FOUND. */
  find(kind: "sandbox" | "container", id: string): Promise<ContainerDetails | undefined>;
  /** Returns the id. */
  create(name: string, body: unknown): Promise<string>;
  start(id: string): Promise<void>;
  /** Resolves when the container has ended. A grace period of zero kills. */
  stop(id: string, graceSeconds: number, signal?: AbortSignal): Promise<void>;
  /** Kills and removes the container with its anonymous volumes; succeeds where there is none. */
  remove(id: string): Promise<void>;
}

const SECOND_MS = 1000;
/** A Docker that hangs is to be noticed by the status of the runtime. */
const INFO_MS = 10_000;
/** Time that a stop may take longer than its grace period. */
const STOP_MARGIN_MS = 120_000;
/** Creating a container of a large image copies nothing, yet some storage drivers do. */
const CREATE_MS = 240_000;
const ID = /^[0-9a-f]{1,64}$/;

/** Creates the calls on a connection. */
export function dockerCalls(engine: Engine): DockerCalls {
  const find: DockerCalls["find"] = async (kind, id) => {
    if (!ID.test(id)) return undefined;
    try {
      const details = containerDetails(await engine.call({ method: "GET", path: `/containers/${id}/json` }));
      return kindOf(details.labels) === kind ? details : undefined;
    } catch (thrown) {
      if (isNotFound(thrown)) return undefined;
      throw thrown;
    }
  };
  return {
    engine,
    info: async () => engineInfo(await engine.call({ method: "GET", path: "/info", deadlineMs: INFO_MS })),
    answers: async () => {
      const query = { limit: 1 };
      containerSummaries(await engine.call({ method: "GET", path: "/containers/json", query, deadlineMs: INFO_MS }));
    },
    list: async (labels, { withSizes = false, id, states } = {}) => {
      const filters = JSON.stringify({
        label: Object.entries(labels).map(([key, value]) => `${key}=${value}`),
        ...(id === undefined ? {} : { id: [id] }),
        ...(states === undefined ? {} : { status: states }),
      });
      const query = { all: 1, filters, ...(withSizes ? { size: 1 } : {}) };
      return containerSummaries(await engine.call({ method: "GET", path: "/containers/json", query }));
    },
    find,
    inspect: async (kind, id) => {
      const details = await find(kind, id);
      if (details === undefined) throw notFound(kind, id);
      return details;
    },
    create: async (name, body) => {
      const answer = await engine.call({
        method: "POST",
        path: "/containers/create",
        query: { name },
        body,
        deadlineMs: CREATE_MS,
      });
      const id = textOf(fieldsOf(answer), "Id");
      if (!ID.test(id)) throw garbled("POST /containers/create", "the answer names no id");
      return id;
    },
    start: async (id) =>
      void (await engine.call({ method: "POST", path: `/containers/${id}/start`, deadlineMs: CREATE_MS })),
    stop: (id, graceSeconds, signal) => stop(engine, id, graceSeconds, signal),
    remove: (id) => remove(engine, id, find),
  };
}

const kindOf = (labels: Readonly<Record<string, string>>): "sandbox" | "container" | undefined => {
  const type = labels[LABEL.type];
  if (type === undefined) return undefined;
  return type === SANDBOX ? "sandbox" : "container";
};

async function stop(engine: Engine, id: string, graceSeconds: number, signal: AbortSignal | undefined): Promise<void> {
  const deadlineMs = graceSeconds * SECOND_MS + STOP_MARGIN_MS;
  if (graceSeconds > 0) {
    await engine.call({
      method: "POST",
      path: `/containers/${id}/stop`,
      query: { t: graceSeconds },
      deadlineMs,
      signal,
    });
    return;
  }
  try {
    await engine.call({ method: "POST", path: `/containers/${id}/kill`, query: { signal: "SIGKILL" } });
  } catch (thrown) {
    // The container runs no more, or never did.
    if (isConflict(thrown)) return;
    throw thrown;
  }
  const condition = "not-running";
  await engine.call({ method: "POST", path: `/containers/${id}/wait`, query: { condition }, deadlineMs, signal });
}

async function remove(engine: Engine, id: string, find: DockerCalls["find"]): Promise<void> {
  try {
    await engine.call({ method: "DELETE", path: `/containers/${id}`, query: { force: true, v: true } });
  } catch (thrown) {
    if (isNotFound(thrown)) return;
    // A call at the same time may have removed the container by now.
    if (isConflict(thrown) && (await find("container", id)) === undefined && (await find("sandbox", id)) === undefined)
      return;
    throw thrown;
  }
}
