/**
 * Faults between a node and its API server: outages of every kind, watches that miss events, a history that is
 * forgotten. Owns the outage under way; at most one at a time, a new one takes its place.
 */
import type { SimApiServer, SimApiServerOptions } from "../apiServer/simApiServer.ts";
import { internalError, serviceUnavailable, tooManyRequests } from "../../core/apiObjects/refusals.ts";
import type { Prng } from "../prng.ts";
import type { SimAction } from "../runtime/simCall.ts";

/** What an outage looks like to a client. */
const OUTAGES = ["refused", "silent", "unavailable", "error", "busy", "hangs", "slow"] as const;
type Outage = (typeof OUTAGES)[number];

/** What the faults act on. */
export interface ApiFaultContext {
  readonly server: SimApiServer;
  /** Does something so much later, unless all is healed by then. */
  later(ms: number, action: () => void): void;
  note(text: string): void;
  /** The server can be reached from now on, or not any more. */
  tell(isUp: boolean): void;
  /** Has somebody else write to an API pod. */
  annotatePod(prng: Prng): void;
}

type ApiFaultKind = "apiOutage" | "apiWatchGap" | "apiGone" | "apiConflict";

export interface ApiFaults {
  /** What the server asks before each request and event. */
  readonly hooks: Required<Pick<SimApiServerOptions, "intercept" | "interceptEvent">>;
  /** What each kind does when it happens. */
  happenings(context: ApiFaultContext): Readonly<Record<ApiFaultKind, (prng: Prng) => void>>;
  /** All is well from now on. */
  heal(server: SimApiServer): void;
}

const SLOW_MS = 20_000;
const RETRY_AFTER_S = 5;
const SHORTEST_OUTAGE_MS = 1_000;
const LONGEST_OUTAGE_MS = 600_000;

/** Makes the faults of one server. */
export function createApiFaults(): ApiFaults {
  let outage: { readonly what: Outage } | undefined;
  let cutsNextEvent = false;
  const heal = (server: SimApiServer): void => {
    outage = undefined;
    cutsNextEvent = false;
    server.setNetwork("up");
  };
  const breakDown = ({ server, later, note, tell }: ApiFaultContext, prng: Prng): void => {
    const begun = { what: prng.pick(OUTAGES) };
    const { what } = begun;
    outage = begun;
    note(`API server: ${what}`);
    server.setNetwork(what === "refused" || what === "silent" ? what : "up");
    // A server in trouble keeps no watch open; that packets are lost, nobody tells.
    if (what !== "silent") server.cutWatches();
    tell(false);
    later(prng.int(SHORTEST_OUTAGE_MS, LONGEST_OUTAGE_MS), () => {
      if (outage !== begun) return;
      note("API server: well again");
      heal(server);
      tell(true);
    });
  };
  return {
    hooks: {
      intercept: () => (outage === undefined ? { kind: "proceed" } : answerIn(outage.what)),
      interceptEvent() {
        const isCut = cutsNextEvent;
        cutsNextEvent = false;
        return isCut ? { kind: "cut" } : { kind: "deliver" };
      },
    },
    happenings: (context) => ({
      apiOutage: (prng) => breakDown(context, prng),
      apiWatchGap(prng) {
        context.note("API server: a gap in its watches");
        if (prng.chance(0.5)) context.server.cutWatches("pods");
        else cutsNextEvent = true;
      },
      apiGone(prng) {
        context.note("API server: history forgotten");
        expire(context.server, prng);
      },
      apiConflict: (prng) => context.annotatePod(prng),
    }),
    heal,
  };
}

function answerIn(outage: Outage): SimAction {
  switch (outage) {
    case "unavailable":
      return { kind: "fail", error: serviceUnavailable() };
    case "error":
      return { kind: "fail", error: internalError() };
    case "busy":
      return { kind: "fail", error: tooManyRequests(RETRY_AFTER_S) };
    case "hangs":
      return { kind: "hang" };
    case "slow":
      return { kind: "delay", ms: SLOW_MS };
    case "refused":
    case "silent":
      return { kind: "proceed" };
  }
}

/** Makes the server forget its history, in one of the ways it may. */
function expire(server: SimApiServer, prng: Prng): void {
  const ways = [
    () => server.expireWatches(),
    () => server.restart(),
    () => {
      server.compact();
      server.cutWatches();
    },
  ];
  prng.pick(ways)();
}
