/** Access to an API server for the conformance suite. */
import { firstValueFrom, type Observable } from "rxjs";
import { isKubeletError, type KubeletError } from "../../src/core/errors.ts";
import type { ApiPatch, ApiServer } from "../../src/ports/apiServer.ts";
import { newPod } from "../support/simApi.ts";

/** A running API server. */
export interface ApiServerFixture {
  /** May do everything. */
  readonly port: ApiServer;
  /** Acts as the node `node`; undefined when the server knows one client only. */
  readonly nodePort: ApiServer | undefined;
  /** A node that exists. */
  readonly node: string;
  readonly namespace: string;
  /** Makes every version so far too old for a watch; undefined when that cannot be done. */
  forgetHistory?(): Promise<void>;
  close(): Promise<void>;
}

/** The server, and the pods made on it. */
export class ApiUnderTest {
  readonly fixture: ApiServerFixture;
  #made = 0;

  constructor(fixture: ApiServerFixture) {
    this.fixture = fixture;
  }

  get port(): ApiServer {
    return this.fixture.port;
  }

  readonly ref = (name: string) => ({ namespace: this.fixture.namespace, name });

  /** A new pod bound to the node. */
  async pod(more: Parameters<typeof newPod>[2] = {}) {
    this.#made += 1;
    const { node: nodeName, namespace } = this.fixture;
    const name = `pod-${this.#made}`;
    return firstValueFrom(this.port.create("pods", newPod(name, { nodeName }, { namespace, ...more })));
  }
}

/** The value of a call, or what an error says. */
export async function ending<T>(call: Observable<T>): Promise<T | Pick<KubeletError, "code" | "reason">> {
  try {
    return await firstValueFrom(call);
  } catch (thrown) {
    if (!isKubeletError(thrown)) throw thrown;
    return { code: thrown.code, reason: thrown.reason };
  }
}

/** A JSON merge patch. */
export const merge = (body: Readonly<Record<string, unknown>>): ApiPatch => ({
  type: "application/merge-patch+json",
  body,
});
/** A strategic merge patch. */
export const strategic = (body: Readonly<Record<string, unknown>>): ApiPatch => ({
  type: "application/strategic-merge-patch+json",
  body,
});
