// ProfilesService.Get and GetByExternalId on a real engine: anonymous, named, merged and deleted profiles.

import { randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
});
afterAll(async () => {
  await service?.stop();
});

const projectId = 'prj_profiles';
const startMs = Date.UTC(2026, 9, 1, 12);

async function profileIdOf(project: string, distinctId: string): Promise<string> {
  const result = await service.clickhouse.query({
    query: 'SELECT lower(hex(millraceProfileHash({project:String}, {distinctId:String}))) AS id',
    query_params: { project, distinctId },
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ id: string }>();
  return row?.id ?? '';
}

async function failure(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => {
      throw new Error('expected a failure');
    },
    (error) => ConnectError.from(error),
  );
}

describe('a profile of events from several inserts', () => {
  const sessions = [randomUUID(), randomUUID(), randomUUID()];
  const at = (minute: number, fields: object) =>
    storedRow({
      projectId,
      distinctId: 'anna',
      occurTimeMs: startMs + minute * 60_000,
      receiveTimeMs: startMs + 86_400_000 - minute * 1_000,
      ...fields,
    });

  beforeAll(async () => {
    // Without the engine's merges, the read itself must sum the rows up.
    await service.clickhouse.command({ query: 'SYSTEM STOP MERGES profile_activity' });
    const desktop = { browser: 'Firefox', browser_version: '140', os: 'Linux', device: 'desktop' };
    const phone = { browser: 'Safari', os: 'iOS', os_version: '26', device: 'iPhone' };
    await storeRows(service.clickhouse, [
      at(1, { sessionId: sessions[0], columns: { ...desktop, country: 'DE', city: 'Berlin' } }),
      at(2, { sessionId: sessions[0], kind: 'click', columns: desktop }),
    ]);
    await storeRows(service.clickhouse, [
      at(5, { sessionId: sessions[1], columns: phone }),
      at(6, { sessionId: sessions[1], kind: 'purchase' }),
    ]);
    await storeRows(service.clickhouse, [
      at(-3, { sessionId: sessions[2], columns: { country: 'FR', region: 'IDF', city: 'Paris' } }),
      at(3, { sessionId: sessions[0], kind: 'page_view' }),
    ]);
  });
  afterAll(async () => {
    await service.clickhouse.command({ query: 'SYSTEM START MERGES profile_activity' });
  });

  it('has the totals of all events', async () => {
    const id = await profileIdOf(projectId, 'anna');
    const { profile } = await service.profiles(projectId).get({ id });
    expect(profile).toMatchObject({ id, externalId: '', properties: {}, projectId });
    expect(profile?.activity).toMatchObject({
      totalEvents: 6n,
      pageviews: 4n,
      sessions: 3n,
      browser: 'Safari',
      browserVersion: '',
      os: 'iOS',
      osVersion: '26',
      device: 'iPhone',
      country: 'DE',
      region: '',
      city: 'Berlin',
    });
    const moment = (value: Parameters<typeof timestampDate>[0] | undefined) =>
      value && timestampDate(value).getTime() - startMs;
    expect(moment(profile?.activity?.firstSeen)).toBe(-3 * 60_000);
    expect(moment(profile?.activity?.lastSeen)).toBe(6 * 60_000);
    expect(moment(profile?.createTime)).toBe(86_400_000 - 6_000);
    expect(profile?.updateTime).toEqual(profile?.createTime);
  });

  it('answers JSON as documented, zeros included', async () => {
    await storeRows(service.clickhouse, [
      storedRow({ projectId, distinctId: 'zoe', kind: 'click', occurTimeMs: startMs }),
    ]);
    const id = await profileIdOf(projectId, 'zoe');
    const answer = await service.post(projectId, 'shared.profiles.v1.ProfilesService/Get', { id });
    expect(JSON.parse(answer.text)).toMatchObject({
      profile: {
        id,
        projectId,
        properties: {},
        createTime: '2026-10-01T12:00:01Z',
        activity: {
          totalEvents: '1',
          pageviews: '0',
          sessions: '1',
          lastSeen: '2026-10-01T12:00:00Z',
        },
      },
    });
  });
});

describe('no profile', () => {
  const get = (project: string, id: string) => failure(service.profiles(project).get({ id }));

  it.each([
    ['an unknown id', '0123456789abcdef0123456789abcdef'],
    ['upper case', '0123456789ABCDEF0123456789ABCDEF'],
    ['too short', '0123'],
    ['no id at all', "' OR 1 = 1 --"],
    ['a trailing line break', '0123456789abcdef0123456789abcdef\n'],
  ])('%s is not found', async (_, id) => {
    expect(await get(projectId, id)).toMatchObject({
      code: Code.NotFound,
      rawMessage: 'no profile has this id',
    });
  });

  it('the error for an empty id names the field', async () => {
    expect(await get(projectId, '')).toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'id: is required',
    });
  });

  it("another project's profile is not found", async () => {
    await storeRows(service.clickhouse, [storedRow({ projectId, distinctId: 'olga' })]);
    const id = await profileIdOf(projectId, 'olga');
    expect((await service.profiles(projectId).get({ id })).profile?.id).toBe(id);
    expect((await get('prj_other', id)).code).toBe(Code.NotFound);
  });

  it('one distinct id in two projects is two profiles', async () => {
    const both = ['prj_one', 'prj_two'];
    for (const project of both) {
      await storeRows(service.clickhouse, [storedRow({ projectId: project, distinctId: 'same' })]);
    }
    const ids = await Promise.all(both.map((project) => profileIdOf(project, 'same')));
    expect(new Set(ids).size).toBe(2);
    for (const [index, project] of both.entries()) {
      const { profile } = await service.profiles(project).get({ id: ids[index] ?? '' });
      expect(profile?.activity?.totalEvents).toBe(1n);
    }
  });

  it('a cookieless visitor has no profile', async () => {
    const distinctId = 'cookieless-abc';
    await storeRows(service.clickhouse, [storedRow({ projectId, distinctId, cookieless: true })]);
    expect((await get(projectId, await profileIdOf(projectId, distinctId))).code).toBe(
      Code.NotFound,
    );
  });
});

it('a profile may have traits of any name and value', async () => {
  const externalId = 'odd"/\\\n';
  const text = String.raw`{"__proto__": {"a": 1}, "": "", "a/b\"\\\u2028\n": "c/d\"\\\n\u0001🎉", "n": null}`;
  const traits: Record<string, unknown> = JSON.parse(text);
  await storeProfiles(service.clickhouse, [
    { projectId: 'prj_odd', distinctId: externalId, traits },
  ]);
  const method = 'shared.profiles.v1.ProfilesService/GetByExternalId';
  const { profile } = JSON.parse((await service.post('prj_odd', method, { externalId })).text);
  expect(profile.externalId).toBe(externalId);
  expect(Object.entries(profile.properties).sort()).toEqual(Object.entries(traits).sort());
});

describe('an id that is merged', () => {
  const project = 'prj_merged';
  const merged = { owner: 'boss', root: 'boss', wasClaimed: true };
  const sessionId = randomUUID();

  beforeAll(async () => {
    await storeProfiles(service.clickhouse, [
      { projectId: project, distinctId: 'boss', traits: { plan: 'pro' } },
      { projectId: project, distinctId: 'alias', ...merged },
      { projectId: project, distinctId: 'visitor', named: false, ...merged },
      { projectId: project, distinctId: 'unnamed', named: false, deleted: true, ...merged },
      { projectId: project, distinctId: 'hidden', named: false, deleted: true },
      { ...merged, projectId: project, distinctId: 'of-hidden', owner: 'hidden', root: 'hidden' },
    ]);
    await storeRows(
      service.clickhouse,
      ['boss', 'alias', 'visitor', 'hidden', 'of-hidden'].map((distinctId) =>
        storedRow({ projectId: project, distinctId, sessionId }),
      ),
    );
  });

  it('answers its owner with the events of all merged ids', async () => {
    const { profile } = await service.profiles(project).getByExternalId({ externalId: 'boss' });
    expect(profile).toMatchObject({
      id: await profileIdOf(project, 'boss'),
      externalId: 'boss',
      properties: { plan: 'pro' },
      activity: { totalEvents: 3n, sessions: 1n },
    });
    const same = await service.profiles(project).getByExternalId({ externalId: 'alias' });
    expect(same.profile).toEqual(profile);
    for (const distinctId of ['boss', 'alias', 'visitor']) {
      const id = await profileIdOf(project, distinctId);
      expect((await service.profiles(project).get({ id })).profile).toEqual(profile);
    }
  });

  it('is no externalId if Identify never named it', async () => {
    for (const externalId of ['visitor', 'unnamed']) {
      const get = service.profiles(project).getByExternalId({ externalId });
      expect((await failure(get)).code).toBe(Code.NotFound);
    }
  });

  it('answers an owner and a named profile that only the table profiles has yet', async () => {
    const projectId = 'prj_landing';
    const { clickhouse } = service;
    const shown = await clickhouse.query({
      query: 'SHOW CREATE TABLE profile_record_view',
      format: 'JSONEachRow',
    });
    const [view] = await shown.json<{ statement: string }>();
    await clickhouse.command({ query: 'DROP VIEW profile_record_view' });
    const owner = { projectId, distinctId: 'owner', traits: { plan: 'pro' } };
    const edge = { ...{ owner: 'owner', root: 'owner', wasClaimed: true }, named: false };
    const others = [
      { projectId, distinctId: 'visitor', ...edge },
      { projectId, distinctId: 'new' },
    ];
    await storeProfiles(clickhouse, [owner, ...others]);
    await clickhouse.command({ query: view?.statement ?? '' });
    await storeRows(clickhouse, [storedRow({ projectId, distinctId: 'visitor' })]);
    const id = await profileIdOf(projectId, 'visitor');
    expect((await service.profiles(projectId).get({ id })).profile).toMatchObject({
      id: await profileIdOf(projectId, 'owner'),
      externalId: 'owner',
      properties: { plan: 'pro' },
      activity: { totalEvents: 1n },
    });
    for (const externalId of ['owner', 'new']) {
      const found = await service.profiles(projectId).getByExternalId({ externalId });
      expect(found.profile?.externalId).toBe(externalId);
    }
    const newId = await profileIdOf(projectId, 'new');
    expect((await service.profiles(projectId).get({ id: newId })).profile?.externalId).toBe('new');
  });

  it('is not found if its owner is deleted', async () => {
    for (const externalId of ['hidden', 'of-hidden']) {
      const get = service.profiles(project).getByExternalId({ externalId });
      expect((await failure(get)).code).toBe(Code.NotFound);
    }
    const id = await profileIdOf(project, 'of-hidden');
    expect((await failure(service.profiles(project).get({ id }))).code).toBe(Code.NotFound);
  });

  it('follows its newest root, even if older changes come late', async () => {
    const projectId = 'prj_moved';
    const ids = ['one', 'two', 'visitor'];
    const owners = ids.slice(0, 2).map((distinctId) => ({ projectId, distinctId }));
    await storeProfiles(service.clickhouse, owners);
    const events = ids.map((distinctId) => storedRow({ projectId, distinctId }));
    await storeRows(service.clickhouse, events);
    const at = async (version: string, root: string, storedRoot: string): Promise<string[]> => {
      const edge = { ...{ named: false, wasClaimed: true, owner: root }, root, storedRoot };
      await storeProfiles(
        service.clickhouse,
        [{ projectId, distinctId: 'visitor', ...edge }],
        version,
      );
      const counts: string[] = [];
      for (const distinctId of ids) {
        const id = await profileIdOf(projectId, distinctId);
        const { profile } = await service.profiles(projectId).get({ id });
        const whose = profile?.externalId || 'nobody';
        counts.push(`${distinctId}: ${whose} ${profile?.activity?.totalEvents}`);
      }
      for await (const { profiles } of service.profiles(projectId).list({})) {
        const listed = profiles.map((one) => `${one.externalId} ${one.activity?.totalEvents}`);
        counts.push(listed.sort().join(', '));
      }
      return counts;
    };
    const ofOne = ['one: one 2', 'two: two 1', 'visitor: one 2', 'one 2, two 1'];
    const ofTwo = ['one: one 1', 'two: two 2', 'visitor: two 2', 'one 1, two 2'];
    expect(await at('2', 'one', '')).toEqual(ofOne);
    expect(await at('5', 'two', 'one')).toEqual(ofTwo);
    expect(await at('3', 'one', '')).toEqual(ofTwo);
    expect(await at('6', 'one', 'two')).toEqual(ofOne);
    const back = ['one: one 1', 'two: two 1', 'visitor: nobody 1', ' 1, one 1, two 1'];
    expect(await at('7', '', 'one')).toEqual(back);
  });

  it('answers an owner of thousands of ids', async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => ({
      ...{ projectId: 'prj_many', distinctId: `id-${index}`, named: false },
      ...{ owner: 'root', root: 'root', wasClaimed: true },
    }));
    await storeProfiles(service.clickhouse, [
      { projectId: 'prj_many', distinctId: 'root' },
      ...many,
    ]);
    await storeRows(
      service.clickhouse,
      ['root', 'id-0', 'id-4999'].map((distinctId) =>
        storedRow({ projectId: 'prj_many', distinctId }),
      ),
    );
    const { profile } = await service.profiles('prj_many').getByExternalId({ externalId: 'root' });
    expect(profile?.activity?.totalEvents).toBe(3n);
    const id = await profileIdOf('prj_many', 'id-77');
    expect((await service.profiles('prj_many').get({ id })).profile).toEqual(profile);
  });
});
