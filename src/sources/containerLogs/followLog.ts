/**
 * Follows a log from its current end through rotations until its container has ended. Reads after a change of the
 * directory, at most every 20 ms, so that a fast writer causes few large reads. Bound: two open files.
 * Upstream: ReadLogs with follow.
 */
import { type MonotonicMs, monotonicMs } from "../../core/ids.ts";
import { type LogContext, readCompressed } from "./logContext.ts";
import { type LogFile, openLogFile, openRotated } from "../../fileSystem/logFile.ts";
import { successionOf } from "./logSuccession.ts";
import { createLogWaker, type LogWaker } from "./logWaker.ts";

/** Minimum time between two reads. */
const GAP_MS = 20;
/** The follower moves to the next file once the runtime has not written to the previous one for this time. */
const SETTLE_MS = 50;
/** Such delays before it moves all the same. */
const MAX_SETTLES = 20;
/** Time for which the previous file is still read after that. */
const TRAIL_MS = 2_000;
/** Delay of the last read, because a container's last lines may arrive after the report of its end. */
const LINGER_MS = 100;

/** The previous file, which is still read for TRAIL_MS. */
interface Trail {
  readonly file: LogFile;
  readonly position: { offset: number };
  readonly until: MonotonicMs;
}

/** Follows the log from `offset` of the current file. */
export async function* followLog(context: LogContext, ended: AbortSignal, offset: number): AsyncGenerator<Uint8Array> {
  const { place, opened, pieces, formatter, reader, clock } = context;
  const waker = createLogWaker(place, clock, reader, ended);
  let position = { offset };
  let trail: Trail | undefined;
  const endTrail = async (): Promise<void> => {
    await trail?.file.handle.close();
    trail = undefined;
  };
  let settles = 0;
  /** Position at the last of these delays; -1 before the first. */
  let settledAt = -1;
  let hasLingered = false;
  try {
    while (!reader.aborted && !formatter.isFull) {
      const hasEnded = ended.aborted;
      const lookedAt = clock.monotonicMs();
      const isLast = settles > 0 || hasLingered;
      if (!opened.current.isCompressed) yield* pieces.plain(opened.current, position, { isWhole: isLast });
      if (trail !== undefined && formatter.isBetweenEntries) {
        yield* pieces.plain(trail.file, trail.position, { isWhole: true });
        if (lookedAt >= trail.until) await endTrail();
      }
      const succession = await successionOf(place, opened.current, position.offset);
      if (succession.kind === "cut") {
        position = { offset: 0 };
        formatter.startFile();
      } else if (
        succession.kind === "next" &&
        settledAt !== position.offset &&
        settles < MAX_SETTLES &&
        !opened.current.isCompressed
      ) {
        settles += 1;
        settledAt = position.offset;
        await waker.pause(SETTLE_MS);
      } else if (succession.kind === "next") {
        const isLatest = succession.name === place.latest;
        const next = await (isLatest ? openLogFile(place, succession.name) : openRotated(place, succession.name));
        if (next === undefined) continue;
        if (succession.isAfterGap) warnOfGap(context);
        await endTrail();
        // A compressed file no longer grows, and its content is not lines.
        if (opened.current.isCompressed) await opened.current.handle.close();
        else trail = { file: opened.current, position, until: monotonicMs(lookedAt + TRAIL_MS) };
        opened.current = next;
        position = { offset: 0 };
        [settles, settledAt] = [0, -1];
        formatter.startFile();
        if (next.isCompressed) yield* readCompressed(context, next);
      } else if (hasLingered) return;
      else if (hasEnded) {
        hasLingered = true;
        await waker.pause(LINGER_MS);
      } else {
        [settles, settledAt] = [0, -1];
        await waker.nextHint();
        await pace(waker, lookedAt + GAP_MS - clock.monotonicMs());
      }
    }
  } finally {
    waker.close();
    await endTrail();
  }
}

/** A client slower than the rotation may miss whole files. Ending its stream would not help, so the gap is logged. */
const warnOfGap = ({ log, reading: { path } }: LogContext): void =>
  log.warn("A container log is rotated faster than a follower reads it: the content of files removed unread is lost", {
    logger: "containerLogs",
    path,
  });

const pace = async (waker: LogWaker, ms: number): Promise<void> => {
  if (ms > 0) await waker.pause(ms);
};
