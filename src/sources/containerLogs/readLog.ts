/** Reads an open log: its existing content from the requested start, then, for a follower, new content. */
import { toKubeletError } from "../../core/errors.ts";
import { followLog } from "./followLog.ts";
import { type LogContext, readCompressed } from "./logContext.ts";
import { openOlder } from "./openLog.ts";
import { laterStart, type LogStart, type SearchedFiles, startOfSince, startOfTail } from "./logStart.ts";

/** Emits the rotated files, then the current one up to its size at the opening, or as long as it is followed. */
export async function* readLog(context: LogContext): AsyncGenerator<Uint8Array> {
  const { place, opened, reading, formatter, pieces, reader } = context;
  const { older, size } = opened;
  const start = await startOf(context);
  for (let index = start.index; index < older.length && !formatter.isFull && !reader.aborted; index++) {
    const file = await openOlder(place, older[index]);
    if (file === undefined) continue;
    try {
      const { offset, skippedLines } = index === start.index ? start : { offset: 0, skippedLines: 0 };
      if (file.isCompressed) yield* readCompressed(context, file, skippedLines);
      else yield* pieces.plain(file, { offset }, { isWhole: true });
    } finally {
      await file.handle.close();
    }
    formatter.startFile();
  }
  const { offset, skippedLines } = start.index === older.length ? start : { offset: 0, skippedLines: 0 };
  if (opened.current.isCompressed) yield* readCompressed(context, opened.current, skippedLines);
  if (reading.untilEnded !== undefined) yield* followLog(context, reading.untilEnded, offset);
  else if (!opened.current.isCompressed) yield* pieces.plain(opened.current, { offset }, { to: size, isWhole: true });
}

async function startOf(context: LogContext): Promise<LogStart> {
  const { reading, isBefore } = context;
  const files = filesOf(context);
  const first: LogStart = { index: 0, offset: 0, skippedLines: 0 };
  const ofTail = reading.tailLines === undefined ? first : await startOfTail(files, reading.tailLines);
  const ofSince = isBefore === undefined ? first : await startOfSince(files, isBefore);
  return laterStart(ofTail, ofSince);
}

function filesOf({ place, opened, reading, log }: LogContext): SearchedFiles {
  const { older, current, size } = opened;
  return {
    count: older.length + 1,
    async with(index, use) {
      if (index === older.length) return use(current, size);
      const file = await openOlder(place, older[index]);
      if (file === undefined) return undefined;
      try {
        return await use(file, (await file.handle.stat()).size);
      } catch (thrown) {
        const error = toKubeletError(thrown);
        log.warn("Cannot search a rotated container log", { logger: "containerLogs", path: reading.path, error });
        return undefined;
      } finally {
        await file.handle.close();
      }
    },
  };
}
