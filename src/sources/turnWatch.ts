/**
 * Times each turn of the event loop in which a stage was entered, and finds the kind of stage that took most of it.
 * Owns the turns until `take`. Bounds: MAX_TURNS turns, one short list per turn.
 */
import type { LoopTurn, StageKind } from "../core/telemetry/loopStalls.ts";
import type { Stage, StageWatch } from "../operators/loopStage.ts";

/** Shorter turns are not recorded, not even as turns around a stall. */
const MIN_TURN_MS = 10;
/** Shorter stretches are not counted. */
const MIN_STRETCH_MS = 0.1;
/** A second has a hundred turns of MIN_TURN_MS. */
const MAX_TURNS = 128;

export interface TurnWatchOptions {
  readonly nowMs: () => number;
  /** Calls back at the end of the turn, after its microtasks. */
  readonly atTurnEnd: (ended: () => void) => void;
}

/** The stretches of one kind of stage in a turn. */
interface Share {
  allMs: number;
  longestMs: number;
  longest: Stage;
}

/** Times turns. A turn begins where a stage is entered and ends with the microtasks behind it. */
export class TurnWatch implements StageWatch {
  current: Stage | undefined;
  readonly #options: TurnWatchOptions;
  readonly #shares = new Map<StageKind, Share>();
  #turns: LoopTurn[] = [];
  #first: Stage | undefined;
  #startMs = 0;
  /** When the current stage was entered or resumed. */
  #sinceMs = 0;

  constructor(options: TurnWatchOptions) {
    this.#options = options;
  }

  enter(stage: Stage): Stage | undefined {
    const nowMs = this.#options.nowMs();
    if (this.#first === undefined) this.#begin(stage, nowMs);
    else this.#charge(nowMs);
    const outer = this.current;
    this.current = stage;
    return outer;
  }

  /** The microtasks behind the outermost stage still belong to it. */
  leave(outer: Stage | undefined): void {
    this.#charge(this.#options.nowMs());
    if (outer !== undefined) this.current = outer;
  }

  /** The turns of at least 10 ms since the last call. */
  take(): readonly LoopTurn[] {
    const turns = this.#turns;
    this.#turns = [];
    return turns;
  }

  #begin(stage: Stage, nowMs: number): void {
    this.#first = stage;
    this.#startMs = nowMs;
    this.#sinceMs = nowMs;
    this.#options.atTurnEnd(this.#ended);
  }

  #charge(nowMs: number): void {
    const stretchMs = nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
    const stage = this.current;
    if (stretchMs < MIN_STRETCH_MS || stage === undefined) return;
    const share = this.#shares.get(stage.kind);
    if (share === undefined) {
      this.#shares.set(stage.kind, { allMs: stretchMs, longestMs: stretchMs, longest: stage });
      return;
    }
    share.allMs += stretchMs;
    if (stretchMs <= share.longestMs) return;
    share.longestMs = stretchMs;
    share.longest = stage;
  }

  readonly #ended = (): void => {
    const nowMs = this.#options.nowMs();
    this.#charge(nowMs);
    const durationMs = nowMs - this.#startMs;
    if (durationMs >= MIN_TURN_MS && this.#turns.length < MAX_TURNS) {
      const { kind, text, owner } = this.#culprit();
      this.#turns.push({ kind, text, owner: owner?.text, startMs: this.#startMs, durationMs });
    }
    if (this.#shares.size > 0) this.#shares.clear();
    this.#first = undefined;
    this.current = undefined;
  };

  #culprit(): Stage {
    let most: Share | undefined;
    for (const share of this.#shares.values()) {
      if (most === undefined || share.allMs > most.allMs) most = share;
    }
    return most?.longest ?? (this.#first as Stage);
  }
}
