/**
 * `/debug/pprof/`: profiles of this process for Chrome's developer tools, recorded for `?seconds`.
 * Bounds: one profile at a time, one minute each.
 * Differs from upstream: V8 profiles instead of Go profiles.
 */
import type { Context, Hono } from "hono";
import type { Clock } from "../ports/clock.ts";
import { allowLongAnswer } from "./longAnswer.ts";
import { onlyMethods, serviceRoute } from "./onlyMethods.ts";
import { ABSENT_PROFILES, pendingWork, type Profile, PROFILES, takeProfile } from "./profiles.ts";

const MAX_SECONDS = 60;

/** Adds the index, the profiles and the command line. */
export function addProfileRoutes(app: Hono, clock: Clock): void {
  let isBusy = false;
  serviceRoute(app, ["GET"], "/debug/pprof", (context) => context.text(index()));
  serviceRoute(app, ["GET"], "/debug/pprof/cmdline", (context) => context.text(process.argv.join("\0")));
  serviceRoute(app, ["GET"], "/debug/pprof/goroutine", (context) => context.text(pendingWork()));
  for (const profile of PROFILES) {
    serviceRoute(app, ["GET"], `/debug/pprof/${profile.name}`, async (context) => {
      const seconds = secondsOf(context, profile);
      if (seconds === undefined) {
        return context.text(`seconds must be a number from 1 to ${MAX_SECONDS}\n`, 400);
      }
      if (isBusy) return context.text("Could not enable profiling: profiling already in use\n", 500);
      isBusy = true;
      allowLongAnswer(context);
      try {
        return context.body(await takeProfile(profile, seconds, clock), 200, {
          "content-type": "application/octet-stream",
          "content-disposition": `attachment; filename="${profile.file}"`,
        });
      } finally {
        isBusy = false;
      }
    });
  }
  for (const [name, why] of ABSENT_PROFILES) {
    serviceRoute(app, ["GET"], `/debug/pprof/${name}`, (context) => context.text(`Unknown profile: ${why}\n`, 404));
  }
  onlyMethods(app, ["GET"], "/debug/pprof/*", (context) => context.text("Unknown profile\n", 404));
}

const index = (): string =>
  [
    "/debug/pprof/",
    ...PROFILES.map(({ name, about, seconds }) => `${name}?seconds=${seconds}  ${about}`),
    "goroutine  work that the process waits for, by kind",
    "cmdline  the command line of this process",
    ...[...ABSENT_PROFILES].map(([name, why]) => `${name}  not here: ${why}`),
    "",
  ].join("\n");

function secondsOf(context: Context, profile: Profile): number | undefined {
  const seconds = Number(context.req.query("seconds") ?? profile.seconds);
  return seconds >= 1 && seconds <= MAX_SECONDS ? seconds : undefined;
}
