/**
 * Changes of the machine's addresses and default routes by `ip monitor`: Node.js has no netlink. Bounds: one process, lines
 * of 64 KiB. Requires iproute2 and util-linux.
 */
import { filter, map, merge, type Observable } from "rxjs";
import { isAddressNews } from "../core/network/addressNews.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { Clock } from "../ports/clock.ts";
import { childLines, dyingWithUs } from "./childLines.ts";

/** `ip monitor` does not report when it has begun to watch; it has begun after this time. */
const WATCHING_MS = 1_000;

/**
 * Emits when it watches, then after each change of an address or a default route. Errors when the program is missing or
 * ends. `ip` is for tests.
 */
export const addressChanges = (clock: Clock, ip = "ip"): Observable<unknown> =>
  merge(
    longTimer(clock, WATCHING_MS),
    childLines(...dyingWithUs(ip, ["-o", "monitor", "address", "route"])).pipe(
      filter(({ from, text }) => from === "stdout" && isAddressNews(text)),
      map(({ text }) => text),
    ),
  );
