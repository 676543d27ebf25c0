/** Answers of the servers in scenario containers to network probes. Owns the answers that the script set. */
import type { Container, Pod } from "../../core/api.ts";
import { podContainers } from "../../core/pod/containers.ts";
import { PROBE_KINDS, type ProbeOutcome, probeOf } from "../../core/probe/probeTypes.ts";
import { grpcOutcome, httpOutcome } from "../../core/probe/serverAnswers.ts";
import { askedOf, type SimAnswer, type SimAnswers } from "../simProbers.ts";
import type { ScenarioNames } from "./scenarioNames.ts";
import { type Duration, milliseconds } from "./scenarioTime.ts";

interface Takes {
  /** Response time, default `1ms`; a time beyond the probe's timeout fails the probe. */
  readonly takes?: Duration;
}

/** Answer of the server in a container to probes of one protocol. */
export type ServerAnswer = Takes &
  (
    | {
        /** Status code. */
        readonly http: number;
        /** Limits the answer to this path; by default it covers all other paths. */
        readonly path?: string;
      }
    | { readonly tcp: "open" | "refused" }
    | { readonly grpc: "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN" | "UNKNOWN" }
  );

/** A server answer as the simulation uses it. */
export interface SimServerAnswer {
  readonly protocol: "http" | "tcp" | "grpc";
  readonly path: string | undefined;
  readonly afterMs: number;
  outcome(address: string): ProbeOutcome;
}

/** Converts an answer of a script; throws ScenarioError for an invalid duration. */
export function serverAnswerOf(answer: ServerAnswer): SimServerAnswer {
  const afterMs = milliseconds(answer.takes ?? "1ms", "an answer");
  if ("http" in answer) {
    const { http, path } = answer;
    return { protocol: "http", path, afterMs, outcome: () => httpOutcome(http, "") };
  }
  if ("grpc" in answer) {
    const { grpc } = answer;
    return { protocol: "grpc", path: undefined, afterMs, outcome: () => grpcOutcome(grpc) };
  }
  const isOpen = answer.tcp === "open";
  return {
    protocol: "tcp",
    path: undefined,
    afterMs,
    outcome: (address) =>
      isOpen
        ? { result: "success", output: "" }
        : { result: "failure", output: `dial tcp ${address}: connect: connection refused` },
  };
}

export interface ServerAnswers {
  readonly answers: SimAnswers;
  /** Sets the answer of a container from now on. */
  set(container: string, answer: SimServerAnswer): void;
}

const YES: SimAnswer = { result: "success", output: "", afterMs: 1 };
/** Splits `http://10.1.0.2:8080/ready` into protocol, host, port and path. */
const URL_PARTS = /^(http|tcp|grpc)s?:\/\/(.*?)(:\d+)(\/.*|)$/;

/**
 * Creates servers that report success until the script sets an answer; `pods` returns the node's pods with statuses.
 */
export function createServerAnswers(names: ScenarioNames, pods: () => readonly Pod[]): ServerAnswers {
  const reported = new Map<string, SimServerAnswer>();
  const keyOf = (container: string, protocol: string, path: string | undefined): string =>
    `${container} ${protocol} ${path ?? ""}`;
  return {
    set: (container, answer) => void reported.set(keyOf(container, answer.protocol, answer.path), answer),
    answers(url) {
      if (reported.size === 0) return YES;
      const [, protocol = "", host = "", port = "", path = ""] = URL_PARTS.exec(url) ?? [];
      for (const name of serversOf(pods(), host, `${protocol} ${port}${path}`)) {
        const container = names.shown(name);
        const answer =
          reported.get(keyOf(container, protocol, path)) ?? reported.get(keyOf(container, protocol, undefined));
        if (answer !== undefined) return { ...answer.outcome(`${host}${port}`), afterMs: answer.afterMs };
      }
      return YES;
    },
  };
}

/** Containers at that address with a probe of that request, as `namespace/pod/container`. */
const serversOf = (pods: readonly Pod[], host: string, asked: string): readonly string[] =>
  pods
    .filter(({ status }) => status?.podIP === host)
    .flatMap(({ metadata: { namespace, name }, spec }) =>
      podContainers(spec)
        .filter((container) => asks(container, asked))
        .map((container) => `${namespace}/${name}/${container.name}`),
    );

const asks = (container: Container, asked: string): boolean =>
  PROBE_KINDS.some((kind) => {
    const probe = probeOf(container, kind);
    return probe !== undefined && askedOf(probe, container) === asked;
  });
