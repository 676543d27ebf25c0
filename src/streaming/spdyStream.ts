/**
 * A stream of a SPDY connection, as a Duplex: ending it sends FIN, destroying it sends RST_STREAM. A stream that is
 * not read holds back its connection.
 */
import { Duplex } from "node:stream";
import { RESET, type SpdyFrame } from "./spdyFrames.ts";
import type { SpdyHeaders } from "./spdyHeaders.ts";

/** A stream; `headers` are those of its SYN_STREAM frame. */
export interface SpdyStream extends Duplex {
  readonly streamId: number;
  readonly headers: SpdyHeaders;
}

/** The operations a stream uses on its connection. */
export interface SpdyWire {
  send(frame: Exclude<SpdyFrame, { kind: "other" }>, sent?: () => void): void;
  forget(streamId: number): void;
}

/** A stream of a connection, which delivers its frames. */
export class OpenSpdyStream extends Duplex implements SpdyStream {
  readonly streamId: number;
  readonly headers: SpdyHeaders;
  readonly #wire: SpdyWire;
  #remoteEnded = false;
  #localEnded = false;
  #onDrain: (() => void) | undefined;

  constructor(wire: SpdyWire, streamId: number, headers: SpdyHeaders) {
    super({ allowHalfOpen: true, readableHighWaterMark: 1 });
    this.#wire = wire;
    this.streamId = streamId;
    this.headers = headers;
    this.on("error", () => {});
  }

  /** Delivers data to the reader. The returned promise resolves when the stream accepts more. */
  accept(data: Buffer, fin: boolean): Promise<void> | undefined {
    if (this.#remoteEnded || this.destroyed) return undefined;
    const canTakeMore = data.length === 0 || this.push(data);
    if (fin) {
      this.#remoteEnded = true;
      this.push(null);
    }
    if (fin || canTakeMore) return undefined;
    return new Promise((resolve) => {
      this.#onDrain = resolve;
    });
  }

  /** Releases the back-pressure on the connection, although the data was not read. */
  release(): void {
    this.#onDrain?.();
    this.#onDrain = undefined;
  }

  /** Handles a reset by the peer. Kubernetes clients may send it instead of FIN. */
  resetByPeer(): void {
    const isEnded = this.#remoteEnded;
    this.#localEnded = true;
    this.#remoteEnded = true;
    if (this.destroyed) return;
    this.once("end", () => this.destroy());
    if (!isEnded) this.push(null);
  }

  /** Handles the end of the connection. Data of a stream that has ended can still be read. */
  abandon(reason: string): void {
    this.#localEnded = true;
    if (!this.#remoteEnded) this.destroy(new Error(reason));
  }

  override _read(): void {
    this.release();
  }

  override _write(data: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#localEnded) return done();
    this.#wire.send({ kind: "data", streamId: this.streamId, data, fin: false }, done);
  }

  override _final(done: () => void): void {
    if (this.#localEnded) return done();
    this.#localEnded = true;
    this.#wire.send({ kind: "data", streamId: this.streamId, data: Buffer.alloc(0), fin: true }, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.release();
    if (!this.#localEnded) {
      this.#localEnded = true;
      this.#wire.send({ kind: "reset", streamId: this.streamId, status: RESET.cancel });
    }
    this.#wire.forget(this.streamId);
    done(error);
  }
}
