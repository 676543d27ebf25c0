/** The stream of messages from the node. The browser resumes it after the last marble; a refused one is opened anew. */
import { LIVE_PATHS, type LiveMessage } from "../../core/live/liveMessages.ts";

export type Connection = "connecting" | "live" | "lost";

/** Receives what comes. */
export interface StreamUser {
  take(message: LiveMessage): void;
  connection(state: Connection): void;
}

const KINDS: readonly LiveMessage["kind"][] = ["graph", "marbles", "flow", "pods", "node"];
/** The node sends its flow each second: a stream that is silent for this long is dead. */
const SILENCE_MS = 8_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 15_000;

/** Follows the stream until the returned function is called. */
export function followStream(user: StreamUser): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retryMs = FIRST_RETRY_MS;
  const after = (ms: number, then: () => void): void => {
    clearTimeout(timer);
    timer = setTimeout(then, ms);
  };
  const reopen = (): void => {
    source?.close();
    user.connection("lost");
    after(retryMs, open);
    retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
  };
  const receive = (kind: LiveMessage["kind"], data: unknown): void => {
    const message = parsed(kind, data);
    if (message === undefined) return;
    retryMs = FIRST_RETRY_MS;
    user.connection("live");
    after(SILENCE_MS, reopen);
    user.take(message);
  };
  const open = (): void => {
    const own = new EventSource(LIVE_PATHS.stream);
    source = own;
    for (const kind of KINDS) own.addEventListener(kind, ({ data }) => receive(kind, data));
    own.addEventListener("error", () => {
      if (own !== source) return;
      if (own.readyState === EventSource.CLOSED) reopen();
      else user.connection("lost");
    });
    after(SILENCE_MS, reopen);
  };
  user.connection("connecting");
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
}

/** Returns undefined for what is no message of that kind. */
function parsed(kind: LiveMessage["kind"], data: unknown): LiveMessage | undefined {
  if (typeof data !== "string") return undefined;
  try {
    const message = JSON.parse(data) as LiveMessage | null;
    return message?.kind === kind ? message : undefined;
  } catch {
    return undefined;
  }
}
