/** The authenticated server on loopback, with certificates that a test replaces. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { BehaviorSubject, firstValueFrom, ReplaySubject } from "rxjs";
import { kubeletServer, type KubeletServerOptions } from "../../src/server/kubeletServer.ts";
import { secureListener, type TlsMaterial, type TlsSettings } from "../../src/server/secureListener.ts";
import type { ListeningAddress } from "../../src/server/serve.ts";
import { createTestAuthority, type TestAuthority } from "./apiServer/certificates.ts";
import { testAppOptions } from "./kubeletApp.ts";

/** A running server. */
export interface KubeletListener {
  readonly port: number;
  readonly authority: TestAuthority;
  readonly telemetry: ReturnType<typeof testAppOptions>["telemetry"];
  readonly material$: BehaviorSubject<TlsMaterial>;
  /** Connects and shakes hands; rejects when either fails. */
  connect(options?: ConnectionOptions): Promise<TLSSocket>;
  request(path: string, options?: RequestOptions): Promise<{ readonly status: number; readonly body: string }>;
  close(): void;
}

const TLS: TlsSettings = { tlsCipherSuites: [], tlsMinVersion: "", tlsCurvePreferences: [] };

/** Starts one; clients are asked for certificates of `authority`. */
export async function startKubeletListener(
  more: Partial<KubeletServerOptions> = {},
  tls: Partial<TlsSettings> = {},
): Promise<KubeletListener> {
  const authority = await createTestAuthority();
  const material$ = new BehaviorSubject<TlsMaterial>({
    identity: await authority.server(),
    clientAuthorities: authority.certificate,
  });
  const { options, telemetry } = testAppOptions(more);
  const at$ = kubeletServer({
    address: "127.0.0.1",
    port: 0,
    secure: secureListener(material$, { ...TLS, ...tls }, true, ({ message }) => telemetry.log.error(message)),
    forwarding: { idleTimeoutMs: 60_000, onReceived: () => undefined },
    ...options,
    ...more,
  });
  const listening$ = new ReplaySubject<ListeningAddress>(1);
  const subscription = at$.subscribe(listening$);
  const { port } = await firstValueFrom(listening$);
  const base = { host: "127.0.0.1", port, ca: authority.certificate };
  return {
    port,
    authority,
    telemetry,
    material$,
    connect: async (own = {}) => {
      const socket = connect({ ...base, ...own });
      await once(socket, "secureConnect");
      return socket;
    },
    request: async (path, own = {}) => {
      const request = httpsRequest({ ...base, path, agent: false, ...own }).end();
      const [answer] = (await once(request, "response")) as [IncomingMessage];
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      return { status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString() };
    },
    close: () => subscription.unsubscribe(),
  };
}
