/**
 * Faults between a node and its API server: outages of every kind, watches that miss events, lost history. Owns the
 * current outage; at most one at a time, a new one replaces it.
 */
import type { SimApiServer, SimApiServerOptions } from "../apiServer/simApiServer.ts";
import { internalError, serviceUnavailable, tooManyRequests } from "../../core/apiObjects/refusals.ts";
import type { Prng } from "../prng.ts";
import type { SimAction } from "../runtime/simCall.ts";

/** The kinds of outages, as a client sees them. */
const OUTAGES = ["refused", "silent", "unavailable", "error", "busy", "hangs", "slow"] as const;
type Outage = (typeof OUTAGES)[number];

/** Dependencies of the faults. */
export interface ApiFaultContext {
  readonly server: SimApiServer;
  /** Schedules an action, unless the faults end first. */
  later(ms: number, action: () => void): void;
  note(text: string): void;
  /** Called when the server becomes reachable or unreachable. */
  observeServer(isUp: boolean): void;
  /** Writes to an API pod as another client. */
  annotatePod(prng: Prng): void;
}

type ApiFaultKind = "apiOutage" | "apiWatchGap" | "apiGone" | "apiConflict" | "apiAway";

export interface ApiFaults {
  /** Decides the outcome of each request and event of the server. */
  readonly hooks: Required<Pick<SimApiServerOptions, "intercept" | "interceptEvent">>;
  /** Causes one fault of each kind. */
  happenings(context: ApiFaultContext): Readonly<Record<ApiFaultKind, (prng: Prng) => void>>;
  /** Ends all faults. */
  heal(server: SimApiServer): void;
}

const SLOW_MS = 20_000;
const RETRY_AFTER_S = 5;
const SHORTEST_OUTAGE_MS = 1_000;
const LONGEST_OUTAGE_MS = 600_000;
/** Outages in which the server gives no answer that a node could use. */
const AWAY: readonly Outage[] = ["refused", "silent", "unavailable", "hangs"];

/** Creates the faults of one server. */
export function createApiFaults(): ApiFaults {
  let outage: { readonly what: Outage } | undefined;
  let cutsNextEvent = false;
  const heal = (server: SimApiServer): void => {
    outage = undefined;
    cutsNextEvent = false;
    server.setNetwork("up");
  };
  const breakDown = (
    { server, later, note, observeServer }: ApiFaultContext,
    prng: Prng,
    kinds: readonly Outage[],
  ): void => {
    const begun = { what: prng.pick(kinds) };
    const { what } = begun;
    outage = begun;
    note(`API server: ${what}`);
    server.setNetwork(what === "refused" || what === "silent" ? what : "up");
    // A failing server closes its watches; packet loss goes unnoticed.
    if (what !== "silent") server.cutWatches();
    observeServer(false);
    later(prng.int(SHORTEST_OUTAGE_MS, LONGEST_OUTAGE_MS), () => {
      if (outage !== begun) return;
      note("API server: well again");
      heal(server);
      observeServer(true);
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
      apiOutage: (prng) => breakDown(context, prng, OUTAGES),
      apiAway: (prng) => breakDown(context, prng, AWAY),
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

/** Makes the server forget its history, in one of several ways. */
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
