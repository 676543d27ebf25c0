/**
 * Measures what hostile peers of the HTTPS server cost an administrator: `node bench/peer.ts` [seconds of attack, default 60] (root).
 * The administrator lists pods, reads a log and runs a command, first alone (the floor), then beside the peers of
 * test/support/hostilePeer.ts, all kinds at once.
 */
import { attackNode } from "../test/support/attackedNode.ts";
import { printFigure, printRow, printTitle } from "./figures.ts";

const seconds = Number(process.argv[2] ?? 60);
const FLOOR_MS = 10_000;

const { aloneMs, attackedMs, retries, rssMib, connections, ended, tokenReviews } = await attackNode({
  floorMs: FLOOR_MS,
  attackMs: seconds * 1_000,
});
printTitle("a request of the administrator, ms");
printRow("alone", aloneMs, "floor");
printRow("under attack", attackedMs, "aim: at most 1000");
printFigure("requests sent again", retries, "", `of ${attackedMs.length}; his certificate was replaced`);
printFigure("growth of the daemon's RSS, peak", rssMib.peak - rssMib.before, "MiB", "aim: 512");
printFigure("connections, peak", connections.peak, "", "512 unauthenticated");
printFigure("end of the attack -> no connection left", connections.goneMs, "ms");
printFigure("token reviews that hung", tokenReviews, "");
console.log(`attacks that ended: ${JSON.stringify(ended)}`);
