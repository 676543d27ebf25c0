import { once } from "node:events";
import { connect, constants, createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { resetStreamsAtOnce } from "../../../../src/sinks/apiServer/http2Resets.ts";

it("a request whose body the server does not take is reset at once when it is given up", async () => {
  resetStreamsAtOnce();
  resetStreamsAtOnce();
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    session.destroy();
    server.close();
  });
  const request = session.request({ ":method": "POST", ":path": "/" });
  // Three times what a server takes without reading.
  request.end(Buffer.alloc(200_000));
  const [stream] = (await once(server, "stream")) as [ServerHttp2Stream];
  const closed = once(stream, "close");
  stream.on("error", () => {});
  request.close();
  await closed;
  expect([stream.rstCode, request.rstCode]).toEqual([constants.NGHTTP2_CANCEL, constants.NGHTTP2_CANCEL]);
});
