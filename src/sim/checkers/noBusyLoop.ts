/**
 * A node does not go round in circles: what it does in a minute is bounded by its pods. Asked after every action of the
 * scheduler, which no observation tells of. Mistakes of this kind cost a real node its CPU, and the API server its peace.
 */

const MINUTE_MS = 60_000;
/** Starting a pod, with its probes and writes, takes about 200; trouble of all kinds may double that. */
const ACTIONS_PER_POD = 600;
const ACTIONS_OF_NODE = 5_000;

/** Counts one action; answers what is wrong once a minute has too many. */
export function noBusyLoop(pods: number): (atMs: number) => string | undefined {
  const limit = ACTIONS_OF_NODE + ACTIONS_PER_POD * pods;
  let minute = 0;
  let actions = 0;
  return (atMs) => {
    const now = Math.floor(atMs / MINUTE_MS);
    actions = now === minute ? actions + 1 : 1;
    minute = now;
    return actions === limit + 1 ? `more than ${limit} actions in one minute` : undefined;
  };
}
