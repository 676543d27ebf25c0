/**
 * A container that writes its log at the given rate, and the runtime that keeps it, in a process of their own:
 * `node bench/logWriter.ts FILE BYTES_PER_SECOND`. Messages: `reopen` opens the file anew and is answered with `reopened`;
 * `stop` ends writing and is answered with what was written.
 */
import fs from "node:fs";
import { crc32 } from "node:zlib";
import { wallMs } from "./figures.ts";

/** The data that the log's reader is expected to have received. */
export interface Written {
  readonly bytes: number;
  readonly lines: number;
  readonly crc: number;
}

const [, , file = "", rate = "0"] = process.argv;
const LINE_BYTES = 200;
const BATCH_LINES = 80;
const TICK_MS = 5;
const padding = Array.from({ length: 64 }, (_, i) =>
  `${(i * 2654435761) % 4294967296} `.repeat(20).slice(0, LINE_BYTES),
);

let fd = fs.openSync(file, "a");
let bytes = 0;
let lines = 0;
let crc = 0;

function writeBatch(): void {
  const now = wallMs();
  const head = `${new Date(now).toISOString().slice(0, -1)}000000Z stdout F `;
  let content = "";
  let entries = "";
  for (let i = 0; i < BATCH_LINES; i++, lines++) {
    const start = `${now.toFixed(3)} ${lines} `;
    const line = `${start}${padding[lines % padding.length]?.slice(start.length + 1)}\n`;
    content += line;
    entries += head + line;
  }
  fs.writeSync(fd, entries);
  const written = Buffer.from(content, "latin1");
  crc = crc32(written, crc);
  bytes += written.length;
}

const startedAt = performance.now();
const ticks = setInterval(() => {
  const due = ((performance.now() - startedAt) / 1000) * Number(rate);
  while (bytes < due) writeBatch();
}, TICK_MS);

// The parent process has ended, so nothing else would stop the writer.
process.on("disconnect", () => process.exit());
process.on("message", (message) => {
  if (message === "reopen") {
    const next = fs.openSync(file, "a");
    fs.closeSync(fd);
    fd = next;
    process.send?.("reopened");
  } else if (message === "stop") {
    clearInterval(ticks);
    process.send?.({ bytes, lines, crc } satisfies Written);
    process.disconnect();
  }
});
