/** A lane of the real client to a test server, without a rate unless the test gives one. */
import { of } from "rxjs";
import type { TlsIdentity } from "../../../src/core/api/clientConfig.ts";
import { tokenBucket } from "../../../src/operators/tokenBucket.ts";
import {
  type ApiRequestRecord,
  type ApiServerOptions,
  createApiServer,
} from "../../../src/sinks/apiServer/createApiServer.ts";
import { createTransport, type Transport } from "../../../src/sinks/apiServer/transport.ts";
import type { ApiServer } from "../../../src/ports/apiServer.ts";
import { realClock } from "../realClock.ts";
import type { TestAuthority } from "./certificates.ts";
import type { HttpsApiServer } from "./httpsApiServer.ts";

/** A client of a test server. */
export interface TestLane {
  readonly port: ApiServer;
  readonly transport: Transport;
  /** Requests that ended. */
  readonly records: readonly ApiRequestRecord[];
  close(): void;
}

/** Options that a test may change. */
export interface TestLaneOptions
  extends Partial<Pick<ApiServerOptions, "bucket" | "deadlineMs" | "reconnectsAfterDeadline">> {
  readonly identity?: TlsIdentity;
  readonly token?: string;
  /** Base URL instead of the server's own. */
  readonly url?: string;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  readonly onRejected?: () => void;
}

/** Opens one. */
export function openTestLane(
  { url, authority }: Pick<HttpsApiServer, "url"> & { readonly authority: Pick<TestAuthority, "certificate"> },
  options: TestLaneOptions,
): TestLane {
  const { identity, token, tlsServerName, proxyUrl, onRejected = () => {}, ...given } = options;
  const records: ApiRequestRecord[] = [];
  const transport = createTransport({
    endpoint: {
      server: options.url ?? url,
      certificateAuthority: authority.certificate,
      tlsServerName,
      insecureSkipTlsVerify: false,
      proxyUrl,
    },
    identity,
    clock: realClock,
  });
  const port = createApiServer({
    transport,
    authorization: {
      headers: () => of(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      rejected: onRejected,
    },
    bucket: tokenBucket({ qps: 0, burst: 1, clock: realClock }),
    clock: realClock,
    userAgent: "rxlet/test",
    deadlineMs: 10_000,
    observer: { onRequest: (record) => records.push(record), onTurn: () => {} },
    ...given,
  });
  return { port, transport, records, close: () => transport.close() };
}
