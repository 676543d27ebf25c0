/**
 * Sends response bodies in pieces, each after the client has taken the previous one. Owns the responses in progress.
 * Bounds: STALL_MS for a client to take a piece; MAX_WAITING_BYTES of body data pending for all clients. Above that
 * bound, a response of the peer with the most pending data is aborted: the one without progress for the longest time.
 * Differs from upstream: Go's server keeps a response for as long as its client keeps the connection.
 */
import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import { Subscription } from "rxjs";
import { answerToCut, type WaitingAnswer } from "../core/server/answerToCut.ts";
import type { Clock } from "../ports/clock.ts";
import type { Shedding } from "../ports/shedding.ts";
import type { Metrics } from "../ports/telemetry.ts";

/** Longest time for a client to take a piece. */
const STALL_MS = 60_000;
const PIECE_BYTES = 65_536;
/** The pod list or the metrics page of a node is a few MiB. */
const MAX_WAITING_BYTES = 128 * 1_024 * 1_024;
/** Minimum charge for a response, which bounds the number of small responses. */
const MIN_BYTES = 4_096;

export interface AnswerBudgetOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly maxWaitingBytes?: number;
  readonly shedding?: Shedding | undefined;
}

/** The connection or HTTP/2 stream that carries a response. */
type Outgoing = Pick<ServerResponse | Http2ServerResponse, "once" | "destroy">;

/** Bounds the response bodies that wait for slow clients. See the file header. */
export interface AnswerBudget {
  /**
   * Returns the same response with its body in bounded pieces. `peer` identifies the client; see `peerGroup`. `failed`
   * receives the error of a body, whose connection or stream is then destroyed so that the client sees a truncated
   * response.
   */
  guard(answer: Response, peer: string, outgoing: Outgoing, failed: (thrown: unknown) => void): Response;
}

/** Reports the progress of a body towards its client. */
interface Progress {
  /** A piece of `bytes` bytes waits for the client. */
  waits(bytes: number): void;
  /** The client took the piece, or has gone. */
  isTaken(): void;
}

/** Creates a budget without pending responses. */
export function createAnswerBudget({ clock, metrics, maxWaitingBytes, shedding }: AnswerBudgetOptions): AnswerBudget {
  const max = maxWaitingBytes ?? MAX_WAITING_BYTES;
  const waiting = new Set<WaitingAnswer & { readonly cutOff: () => void }>();
  let allBytes = 0;
  shedding?.register({
    name: "slow answers",
    kind: "requests",
    shed: () => {
      const cut = [...waiting];
      for (const { cutOff } of cut) cutOff();
      return cut.length;
    },
  });
  const progressOf = (peer: string, outgoing: Outgoing): Progress => {
    let waits = new Subscription();
    let isClosed = false;
    const cutOff = (reason: "limit" | "stall"): void => {
      waits.unsubscribe();
      metrics.count("rxlet_answers_cut_off_total", { reason });
      outgoing.destroy();
    };
    outgoing.once("close", () => {
      isClosed = true;
      waits.unsubscribe();
    });
    return {
      waits: (bytes) => {
        if (isClosed) return;
        const answer = { peer, bytes: Math.max(bytes, MIN_BYTES), cutOff: () => cutOff("limit") };
        for (allBytes += answer.bytes; allBytes > max; ) {
          const cut = answerToCut(waiting);
          if (cut === undefined) break;
          cut.cutOff();
        }
        waiting.add(answer);
        waits = clock.scheduler.schedule(() => cutOff("stall"), STALL_MS);
        waits.add(() => {
          waiting.delete(answer);
          allBytes -= answer.bytes;
        });
      },
      isTaken: () => waits.unsubscribe(),
    };
  };
  return {
    guard: (answer, peer, outgoing, failed) => {
      if (answer.body === null) return answer;
      const fail = (thrown: unknown): void => {
        failed(thrown);
        outgoing.destroy();
      };
      return new Response(inPieces(answer.body, progressOf(peer, outgoing), fail), answer);
    },
  };
}

function inPieces(
  source: ReadableStream<Uint8Array>,
  { waits, isTaken }: Progress,
  fail: (thrown: unknown) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let left: Uint8Array = new Uint8Array();
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        isTaken();
        if (left.byteLength === 0) {
          const { value, done } = await reader.read().catch((thrown: unknown) => {
            // An error of this stream would be printed by the adapter.
            fail(thrown);
            return { value: undefined, done: true as const };
          });
          if (done) return controller.close();
          left = value;
          bytes = value.byteLength;
        }
        waits(bytes);
        controller.enqueue(left.subarray(0, PIECE_BYTES));
        left = left.subarray(PIECE_BYTES);
      },
      async cancel(reason) {
        isTaken();
        left = new Uint8Array();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
