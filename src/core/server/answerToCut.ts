/** Chooses the response to cut when too many bytes wait: one of the peer that holds the most bytes. */

/** An answer whose client has not taken it yet. */
export interface WaitingAnswer {
  /** The client it is for: see `peerGroup`. */
  readonly peer: string;
  readonly bytes: number;
}

/** The first answer of the peer that holds most bytes of `waiting`; undefined when nothing waits. */
export function answerToCut<A extends WaitingAnswer>(waiting: Iterable<A>): A | undefined {
  const firsts = new Map<string, A>();
  const totals = new Map<string, number>();
  for (const answer of waiting) {
    if (!firsts.has(answer.peer)) firsts.set(answer.peer, answer);
    totals.set(answer.peer, (totals.get(answer.peer) ?? 0) + answer.bytes);
  }
  const most = Math.max(...totals.values());
  return [...firsts.values()].find(({ peer }) => totals.get(peer) === most);
}
