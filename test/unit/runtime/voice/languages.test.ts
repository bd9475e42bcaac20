import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { completenessOf } from '../../../../runtime/voice/end-of-utterance.js';
import { fillerOf, isBackChannel, isStop } from '../../../../runtime/voice/languages.js';

interface Case {
  readonly listening: readonly string[];
  readonly stop: readonly string[];
  /** Neither of both. */
  readonly meant: readonly string[];
  readonly unfinished: readonly string[];
  readonly complete: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  en: {
    listening: ['Yeah, right.'],
    stop: ['Stop!'],
    meant: ['No', 'Yes, but why?'],
    unfinished: ['I would like to'],
    complete: ['Thanks'],
  },
  de: {
    listening: ['Mhm.', 'Ja, ja.', 'Ach so, genau.', 'Alles klar!'],
    stop: ['Stopp!', 'Hör auf.', 'Halt, das reicht.', 'Stop'],
    meant: ['Nein.', 'Ja, aber warum?', 'Ich höre auf zu rauchen'],
    unfinished: ['Ich möchte gern mit', 'Das ist schön und', 'Wir fahren nach'],
    complete: ['Ich rufe dich an.', 'Genau', 'Wie spät ist es?'],
  },
  fr: {
    listening: ["Oui, d'accord.", 'Ah bon ?', 'C’est ça.'],
    stop: ['Arrête !', 'Tais-toi.', 'Ça suffit'],
    meant: ['Non', 'Oui, mais pourquoi ?'],
    unfinished: ['Je voudrais aller dans', 'Il fait beau mais'],
    complete: ['Il fait beau.', 'Quelle heure est-il ?'],
  },
  es: {
    listening: ['Sí, sí.', '¡Claro!', 'Ajá, vale.'],
    stop: ['¡Para!', '¡Ya basta! Silencio.', 'Cállate'],
    meant: ['No', '¿Para qué?'],
    unfinished: ['Quiero ir a', 'Hace sol pero'],
    complete: ['Hace sol.', '¿Qué hora es?'],
  },
  it: {
    listening: ['Sì, certo.', 'Ho capito.', "D'accordo."],
    stop: ['Basta!', 'Fermati.', 'Stai zitto'],
    meant: ['No', 'Basta così poco?'],
    unfinished: ['Vorrei andare con', 'È bello ma'],
    complete: ['Fa caldo.', 'Che ore sono?'],
  },
  pt: {
    listening: ['Sim, claro.', 'Tá bom.', 'Pois é.'],
    stop: ['Pare!', 'Chega.', 'Já chega, silêncio'],
    meant: ['Não', 'Sim, mas quando?'],
    unfinished: ['Eu quero ir para', 'Está sol mas'],
    complete: ['Está sol.', 'Que horas são?'],
  },
  nl: {
    listening: ['Ja, precies.', 'Dat klopt.', 'Oké'],
    stop: ['Hou op!', 'Stop.', 'Genoeg, stil'],
    meant: ['Nee', 'Ja, maar waarom?'],
    unfinished: ['Ik wil graag naar', 'Het is mooi maar'],
    complete: ['Het is mooi.', 'Hoe laat is het?'],
  },
  pl: {
    listening: ['Tak, tak.', 'Rozumiem.', 'No dobrze'],
    stop: ['Przestań!', 'Dość.', 'Stop, cisza'],
    meant: ['Nie', 'Tak, ale dlaczego?'],
    unfinished: ['Chciałbym pojechać do', 'Jest ładnie ale'],
    complete: ['Jest ładnie.', 'Która godzina?'],
  },
  sv: {
    listening: ['Ja, precis.', 'Just det.'],
    stop: ['Sluta!', 'Det räcker.'],
    meant: ['Nej', 'Ja, men varför?'],
    unfinished: ['Jag vill åka till', 'Det är fint men'],
    complete: ['Det är fint.', 'Vad är klockan?'],
  },
  ru: {
    listening: ['Да, да.', 'Понятно.', 'Угу'],
    stop: ['Хватит!', 'Стоп.', 'Замолчи, хватит'],
    meant: ['Нет', 'Да, но почему?'],
    unfinished: ['Я хочу поехать в', 'Сегодня тепло но'],
    complete: ['Сегодня тепло.', 'Который час?'],
  },
  uk: {
    listening: ['Так, так.', 'Зрозуміло.'],
    stop: ['Досить!', 'Стоп.'],
    meant: ['Ні', 'Так, але чому?'],
    unfinished: ['Я хочу поїхати до', 'Сьогодні тепло але'],
    complete: ['Сьогодні тепло.', 'Котра година?'],
  },
  cs: {
    listening: ['Ano, jasně.', 'Rozumím.'],
    stop: ['Přestaň!', 'To stačí.'],
    meant: ['Ne', 'Ano, ale proč?'],
    unfinished: ['Chci jet do', 'Je hezky ale'],
    complete: ['Je hezky.', 'Kolik je hodin?'],
  },
  tr: {
    listening: ['Evet, tamam.', 'Anladım.', 'Hı hı'],
    stop: ['Dur!', 'Yeter.', 'İptal'],
    meant: ['Hayır', 'Evet ama neden?'],
    unfinished: ['Hava güzel ama', 'Bugün gelmek istiyorum çünkü'],
    complete: ['Hava güzel.', 'Saat kaç?'],
  },
  ko: {
    listening: ['네, 네.', '그렇군요.', '맞아요'],
    stop: ['그만!', '멈춰요.', '조용히 해'],
    meant: ['아니요', '네, 그런데 왜요?'],
    unfinished: ['날씨가 좋아요 그런데', '저는 오늘 하지만'],
    complete: ['날씨가 좋아요.', '몇 시예요?'],
  },
  ja: {
    listening: ['うん。', 'はい、そうですね。', 'なるほど', 'ええ、うんうん。'],
    stop: ['やめて！', 'もういいです。', '静かにして'],
    meant: ['いいえ', 'はい、でもなぜ？', '止まってから右に曲がって'],
    unfinished: ['今日は、', '東京に…'],
    complete: ['いい天気です。', '何時ですか？'],
  },
  zh: {
    listening: ['嗯。', '好的，明白了。', '是啊'],
    stop: ['停！', '别说了。', '够了，安静'],
    meant: ['不', '好的，但是为什么？'],
    unfinished: ['我想去，', '因为…'],
    complete: ['今天天气很好。', '几点了？'],
  },
};

describe('the small words of a conversation', () => {
  for (const [language, { listening, stop, meant, unfinished, complete }] of Object.entries(CASES))
    it(`in ${language}`, () => {
      for (const text of listening) assert.ok(isBackChannel(text, language), text);
      for (const text of stop) assert.ok(isStop(text, language), text);
      for (const text of meant) assert.ok(!isBackChannel(text, language) && !isStop(text, language), text);
      for (const text of unfinished) assert.equal(completenessOf(text, language), 'incomplete', text);
      for (const text of [...complete, ...listening]) assert.equal(completenessOf(text, language), 'complete', text);
      assert.ok(fillerOf(language)!.length > 3);
      assert.ok(isStop('Stop.', language), 'English is understood everywhere');
    });

  it('in languages that are not known: "mm" and "stop" alone', () => {
    assert.ok(isBackChannel('Mm.', 'fi') && isStop('Stop!', 'fi') && !isBackChannel('Kyllä', 'fi'));
    assert.equal(fillerOf('fi'), undefined);
    assert.equal(fillerOf('constructor'), undefined);
    assert.equal(completenessOf('Menen kauppaan.', 'fi'), 'complete');
    assert.equal(fillerOf('de-AT'), fillerOf('de'));
  });

  it('in time that does not grow with their number', () => {
    const text = 'uh huh '.repeat(8).trim();
    assert.ok(isBackChannel(text, 'en') && !isBackChannel(`${text} x`, 'en'));
    assert.ok(!isBackChannel('うん'.repeat(40), 'ja'), 'nobody says that much');
  });
});
