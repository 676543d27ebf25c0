/**
 * Resets of requests by HTTP/2. The client library ends a request that is given up with the code NO_ERROR, and Node then
 * waits for the rest of the request's body before it says so. The stream is gone by the time that the body may be sent,
 * and Node sends empty frames for it without end: the process hangs and its memory grows. A code of its own is sent at
 * once, and drops what is left of the body; it is client-go's too.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type ClientHttp2Stream, constants } from "node:http2";

const CREATED = "http2.client.stream.created";

const resetsAtOnce = (message: unknown): void => {
  const { stream } = message as { readonly stream: ClientHttp2Stream };
  const close = stream.close.bind(stream);
  stream.close = (code = constants.NGHTTP2_CANCEL, closed) => close(code, closed);
};

/** Streams that this process opens from now on end with CANCEL unless another code is given. Doing it again changes nothing. */
export function resetStreamsAtOnce(): void {
  unsubscribe(CREATED, resetsAtOnce);
  subscribe(CREATED, resetsAtOnce);
}
