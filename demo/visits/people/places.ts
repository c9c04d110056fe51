// The homes of visitors: countries by weight, each with cities, a currency and a language.

import { createWeighted, type Random } from '../random.ts';

export interface Place {
  /** ISO 3166-1 alpha-2. */
  country: string;
  continent: string;
  region: string;
  city: string;
  timezone: string;
  /** ISO 4217. */
  currency: string;
  /** BCP 47. */
  language: string;
}

type City = readonly [city: string, region: string, timezone: string];

function land(
  weight: number,
  country: string,
  continent: string,
  currency: string,
  language: string,
  cities: readonly City[],
): readonly [number, Place[]] {
  const places = cities.map(([city, region, timezone]) => ({
    ...{ country, continent, region, city, timezone, currency, language },
  }));
  return [weight, places];
}

const lands = [
  land(24, 'US', 'NA', 'USD', 'en-US', [
    ['New York', 'New York', 'America/New_York'],
    ['Chicago', 'Illinois', 'America/Chicago'],
    ['Denver', 'Colorado', 'America/Denver'],
    ['San Francisco', 'California', 'America/Los_Angeles'],
    ['Austin', 'Texas', 'America/Chicago'],
  ]),
  land(10, 'DE', 'EU', 'EUR', 'de-DE', [
    ['Berlin', 'Land Berlin', 'Europe/Berlin'],
    ['München', 'Bavaria', 'Europe/Berlin'],
    ['Köln', 'North Rhine-Westphalia', 'Europe/Berlin'],
  ]),
  land(9, 'GB', 'EU', 'GBP', 'en-GB', [
    ['London', 'England', 'Europe/London'],
    ['Manchester', 'England', 'Europe/London'],
    ['Edinburgh', 'Scotland', 'Europe/London'],
  ]),
  land(8, 'IN', 'AS', 'INR', 'en-IN', [
    ['Mumbai', 'Maharashtra', 'Asia/Kolkata'],
    ['Bengaluru', 'Karnataka', 'Asia/Kolkata'],
  ]),
  land(7, 'PL', 'EU', 'PLN', 'pl-PL', [
    ['Warszawa', 'Mazovia', 'Europe/Warsaw'],
    ['Kraków', 'Lesser Poland', 'Europe/Warsaw'],
    ['Łódź', 'Łódź Voivodeship', 'Europe/Warsaw'],
  ]),
  land(6, 'FR', 'EU', 'EUR', 'fr-FR', [
    ['Paris', 'Île-de-France', 'Europe/Paris'],
    ['Lyon', 'Auvergne-Rhône-Alpes', 'Europe/Paris'],
  ]),
  land(6, 'JP', 'AS', 'JPY', 'ja-JP', [
    ['東京', '東京都', 'Asia/Tokyo'],
    ['大阪', '大阪府', 'Asia/Tokyo'],
  ]),
  land(5, 'BR', 'SA', 'BRL', 'pt-BR', [
    ['São Paulo', 'São Paulo', 'America/Sao_Paulo'],
    ['Recife', 'Pernambuco', 'America/Recife'],
  ]),
  land(4, 'CA', 'NA', 'CAD', 'en-CA', [
    ['Toronto', 'Ontario', 'America/Toronto'],
    ['Montréal', 'Quebec', 'America/Toronto'],
  ]),
  land(4, 'ES', 'EU', 'EUR', 'es-ES', [['Madrid', 'Madrid', 'Europe/Madrid']]),
  land(3, 'NL', 'EU', 'EUR', 'nl-NL', [['Amsterdam', 'North Holland', 'Europe/Amsterdam']]),
  land(3, 'AU', 'OC', 'AUD', 'en-AU', [
    ['Sydney', 'New South Wales', 'Australia/Sydney'],
    ['Adelaide', 'South Australia', 'Australia/Adelaide'],
  ]),
  land(2, 'MX', 'NA', 'MXN', 'es-MX', [['Guadalajara', 'Jalisco', 'America/Mexico_City']]),
  land(2, 'SE', 'EU', 'SEK', 'sv-SE', [['Göteborg', 'Västra Götaland', 'Europe/Stockholm']]),
  land(2, 'KR', 'AS', 'KRW', 'ko-KR', [['서울', '서울특별시', 'Asia/Seoul']]),
  land(2, 'IT', 'EU', 'EUR', 'it-IT', [['Milano', 'Lombardy', 'Europe/Rome']]),
  land(2, 'ZA', 'AF', 'ZAR', 'en-ZA', [['Cape Town', 'Western Cape', 'Africa/Johannesburg']]),
  land(1, 'NP', 'AS', 'NPR', 'ne-NP', [['Kathmandu', 'Bagmati', 'Asia/Kathmandu']]),
];

const pickLand = createWeighted(lands);

/** A home for one visitor. */
export function pickPlace(random: Random): Place {
  return random.pick(pickLand(random));
}
