/**
 * Resets HTTP/2 requests with CANCEL. The client library ends an abandoned request with the code NO_ERROR, and Node
 * then waits for the rest of the request's body before it sends the reset. By the time the body may be sent the
 * stream is gone, and Node sends empty frames for it without end: the process hangs and its memory grows. Node sends
 * any other code at once and drops the rest of the body. client-go sends CANCEL too.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type ClientHttp2Stream, constants } from "node:http2";

const CREATED = "http2.client.stream.created";

const resetsAtOnce = (message: unknown): void => {
  const { stream } = message as { readonly stream: ClientHttp2Stream };
  const close = stream.close.bind(stream);
  stream.close = (code = constants.NGHTTP2_CANCEL, closed) => close(code, closed);
};

/** Makes streams that this process opens from now on end with CANCEL unless another code is given. Idempotent. */
export function resetStreamsAtOnce(): void {
  unsubscribe(CREATED, resetsAtOnce);
  subscribe(CREATED, resetsAtOnce);
}
