import { answeredBefore, type Mutant, withDrivers } from "./mutant.ts";

/** Takes claims for prepared while their driver still works. */
export const hastyStarts: Mutant = {
  bug: "a container starts before its claims are prepared",
  caughtBy: "claimsPrepared",
  seed: 3,
  workload: "pinned",
  createKubelet: withDrivers(({ name, prepare }, { clock }) => ({
    prepare: (claims) => {
      const device = { requestNames: [], poolName: "pool", cdiDeviceIds: [name], shareId: undefined };
      const answers = claims.map((claim) => [
        claim.uid,
        { devices: [{ ...device, deviceName: claim.name }], error: "" },
      ]);
      return answeredBefore(prepare(claims), { claims: Object.fromEntries(answers) }, clock);
    },
  })),
};
