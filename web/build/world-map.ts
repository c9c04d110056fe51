// The world's countries as SVG paths, made when the app is built: the page carries no geometry code. The module
// `virtual:world` has `viewBox` and `countries`, a path for each alpha-2 code.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { geoEqualEarth, geoPath } from 'd3-geo';
import { feature } from 'topojson-client';
import type { Plugin } from 'vite';

const name = 'virtual:world';
const width = 960;
const height = 440;

/** ISO 3166-1 numeric, as the atlas has it, to alpha-2, as events have it. The Antarctic is left out. */
const codes = `
  004AF 008AL 012DZ 024AO 031AZ 032AR 036AU 040AT 044BS 050BD 051AM 056BE 064BT 068BO 070BA 072BW 076BR 084BZ 090SB
  096BN 100BG 104MM 108BI 112BY 116KH 120CM 124CA 140CF 144LK 148TD 152CL 156CN 158TW 170CO 178CG 180CD 188CR 191HR
  192CU 196CY 203CZ 204BJ 208DK 214DO 218EC 222SV 226GQ 231ET 232ER 233EE 238FK 242FJ 246FI 250FR 260TF 262DJ 266GA
  268GE 270GM 275PS 276DE 288GH 300GR 304GL 320GT 324GN 328GY 332HT 340HN 348HU 352IS 356IN 360ID 364IR 368IQ 372IE
  376IL 380IT 384CI 388JM 392JP 398KZ 400JO 404KE 408KP 410KR 414KW 417KG 418LA 422LB 426LS 428LV 430LR 434LY 440LT
  442LU 450MG 454MW 458MY 466ML 478MR 484MX 496MN 498MD 499ME 504MA 508MZ 512OM 516NA 524NP 528NL 540NC 548VU 554NZ
  558NI 562NE 566NG 578NO 586PK 591PA 598PG 600PY 604PE 608PH 616PL 620PT 624GW 626TL 630PR 634QA 642RO 643RU 646RW
  682SA 686SN 688RS 694SL 703SK 704VN 705SI 706SO 710ZA 716ZW 724ES 728SS 729SD 732EH 740SR 748SZ 752SE 756CH 760SY
  762TJ 764TH 768TG 780TT 784AE 788TN 792TR 795TM 800UG 804UA 807MK 818EG 826GB 834TZ 840US 854BF 858UY 860UZ 862VE
  887YE 894ZM`;

/** Without a number in the atlas; Northern Cyprus and Somaliland have no code of their own and show no figures. */
const byName: Record<string, string> = { Kosovo: 'XK', 'N. Cyprus': '-NC', Somaliland: '-SL' };

/** Vite's plugin. Throws where the atlas names a country that the table lacks. */
export function worldMap(): Plugin {
  return {
    name: 'world-map',
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: (id) => (id === `\0${name}` ? moduleText() : undefined),
  };
}

function moduleText(): string {
  const file = createRequire(import.meta.url).resolve('world-atlas/countries-110m.json');
  const atlas = JSON.parse(readFileSync(file, 'utf8'));
  const alpha2 = new Map(
    codes
      .trim()
      .split(/\s+/)
      .map((code) => [code.slice(0, 3), code.slice(3)]),
  );
  const all = feature(atlas, atlas.objects.countries).features.filter(({ id }) => id !== '010');
  const path = geoPath(
    geoEqualEarth().fitSize([width, height], { type: 'FeatureCollection', features: all }),
  ).digits(0);
  const countries: Record<string, string> = {};
  for (const country of all) {
    const code = byName[country.properties.name] ?? alpha2.get(country.id ?? '');
    if (code === undefined) throw new Error(`the map's table lacks ${country.properties.name}`);
    countries[code] = path(country) ?? '';
  }
  return `export const viewBox = '0 0 ${width} ${height}';
    export const countries = ${JSON.stringify(countries)};`;
}
