/** Reads the messages of the live view from the text of its stream: server-sent events. Bound: MAX_EVENT_CHARS. */
import { isJsonObject, parseJson } from "../json.ts";
import type { LiveMessage } from "./liveMessages.ts";

/** Longest event; one of a node with MAX_PODS pods is shorter. */
export const MAX_EVENT_CHARS = 16 * 1024 * 1024;

const KINDS: ReadonlySet<unknown> = new Set<LiveMessage["kind"]>(["graph", "marbles", "flow", "pods", "node"]);

/** Takes pieces of the stream. */
export interface LiveEventReader {
  /** ID of the last event that had one: where a next stream goes on. */
  readonly lastId: string | undefined;
  /** Returns the messages that are complete now. Throws a RangeError for an event that is too long. */
  take(piece: string): readonly LiveMessage[];
}

/** Creates a reader at the start of a stream. Events that it does not know are passed over. */
export function createLiveEventReader(): LiveEventReader {
  let rest = "";
  let lastId: string | undefined;
  return {
    get lastId() {
      return lastId;
    },
    take(piece) {
      const events = (rest + piece).split("\n\n");
      rest = events.pop() ?? "";
      if (rest.length > MAX_EVENT_CHARS) throw new RangeError(`an event has more than ${MAX_EVENT_CHARS} characters`);
      return events.flatMap((event) => {
        const lines = event.split("\n");
        lastId = lines.find((line) => line.startsWith("id: "))?.slice("id: ".length) ?? lastId;
        const data = lines.find((line) => line.startsWith("data: "))?.slice("data: ".length);
        const message = data === undefined ? undefined : parseJson(data);
        return isJsonObject(message) && KINDS.has(message["kind"]) ? [message as unknown as LiveMessage] : [];
      });
    },
  };
}
