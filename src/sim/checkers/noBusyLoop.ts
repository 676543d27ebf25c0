/**
 * A node does not loop without progress: the number of its pods bounds its actions per minute. Called after every
 * action of the scheduler, which emits no observation. A busy loop would cost a real node its CPU and overload the API
 * server.
 */

const MINUTE_MS = 60_000;
/** A pod start, with its probes and writes, takes about 200 actions; faults may double that. */
const ACTIONS_PER_POD = 600;
const ACTIONS_OF_NODE = 5_000;

/** Returns a function that counts one action and reports a minute with too many, once. */
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
