// Uses the inspector's page as a person does, and prints what it saw as one JSON object.
//
//   node drive.mjs URL TOKEN FOLDER
//
// Pictures of each part go to FOLDER.
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';

const [url, token, folder] = process.argv.slice(2);
const browser = await puppeteer.launch({
  args: [...chromium.args, '--no-sandbox'],
  executablePath: await chromium.executablePath(),
  headless: 'shell',
});
const saw = { errors: [], outside: [] };
try {
  const page = await browser.newPage();
  page.on('console', line => { if (line.type() === 'error') saw.errors.push(line.text()); });
  page.on('pageerror', error => saw.errors.push(String(error)));
  page.on('request', it => { if (!it.url().startsWith(url)) saw.outside.push(it.url()); });
  await page.setViewport({ width: 1280, height: 720 });
  await page.goto(`${url}/?token=${token}`, { waitUntil: 'domcontentloaded' });
  const rows = () => page.$$eval('tr[data-path]', all => all.map(row => row.dataset.path));
  const shot = name => page.screenshot({ path: `${folder}/${name}.png` });
  // In one step: what is shown is drawn anew with every change.
  const click = at => page.$eval(at, it => it.click());
  const tab = name => click(`button[data-tab="${name}"]`);
  const told = id => page.$eval(`#${id}`, it => it.textContent);

  await page.waitForSelector('tr[data-path="server/tick"]');
  saw.address = page.url();
  saw.rows = await rows();
  await new Promise(done => setTimeout(done, 1500));
  saw.live = await told('live');
  saw.seq = await told('seq');
  const isTold = () => document.querySelector('#players').textContent.includes('players 1 of');
  await page.waitForFunction(isTold);
  const hasShare = () => document.querySelector('#usage').textContent.includes('processor');
  await page.waitForFunction(hasShare);
  saw.usage = await told('usage');
  await shot('actors');

  await click('th[data-sort="path"]');
  const first = () => document.querySelector('tr[data-path]')?.dataset.path;
  await page.waitForFunction(`(${first})() !== ${JSON.stringify(saw.rows[0])}`);
  saw.turned = await rows();
  await click('th[data-sort="path"]');
  await page.type('#filter', 'session');
  await page.waitForFunction(`(${first})()?.includes('session')`);
  saw.filtered = await rows();
  await page.$eval('#filter', it => { it.value = ''; it.dispatchEvent(new Event('input')); });

  await page.waitForSelector('tr[data-path="server/tick"]');
  await click('tr[data-path="server/tick"]');
  await page.waitForFunction(() => !document.querySelector('#one').hidden);
  await new Promise(done => setTimeout(done, 700));
  saw.one = await told('one');
  saw.wide = await page.$$eval('#one, #one table, #view', all =>
    all.map(it => it.scrollWidth - it.clientWidth));
  await click('button[data-do="restart"]');
  saw.question = await told('question');
  await click('[data-sure="no"]');
  const isCancelled = () => document.querySelector('#told').textContent === 'nothing was done';
  await page.waitForFunction(isCancelled);
  await shot('actor');
  await click('button[data-do="close"]');

  await tab('ticks');
  await page.waitForSelector('canvas');
  saw.ticks = await told('view');
  saw.bars = await page.$$eval('#since rect', all => all.length);
  saw.drawn = await page.$eval('canvas', it => {
    const { data } = it.getContext('2d').getImageData(0, 0, it.width, it.height);
    return data.some((value, at) => at % 4 === 3 && value > 0);
  });
  await shot('ticks');
  await tab('links');
  const hasLink = () => document.querySelector('#view').textContent.includes('127.0.0.1');
  await page.waitForFunction(hasLink);
  await click('th[data-sort="silent"]');
  await page.waitForSelector('th[data-sort="silent"][aria-sort="descending"]');
  saw.links = await told('view');
  saw.linksWide = await page.$eval('#view', it => it.scrollWidth - it.clientWidth);
  await shot('links');
  await tab('waits');
  saw.waits = await page.$$eval('#view', all => all.length);
  await tab('limits');
  await page.waitForSelector('tr[data-limit]');
  saw.limits = await page.$$eval('tr[data-limit]', all => all.map(row => row.dataset.limit));
  await shot('limits');

  await tab('controls');
  await page.waitForSelector('#answer');
  const set = async (key, value) => {
    const before = await told('answer');
    await page.$eval('form[data-form="set"]', (form, key, value) => {
      [form.elements.key.value, form.elements.value.value] = [key, value];
      form.requestSubmit();
    }, key, value);
    await click('[data-sure="yes"]');
    await page.waitForFunction(was => {
      const text = document.querySelector('#answer').textContent;
      return text !== was && !text.startsWith('asked');
    }, {}, before);
    return told('answer');
  };
  saw.set = await set('server.maxPlayers', '5');
  await shot('controls');
  saw.refused = await set('server.maxPlayers', '500');
  // In one step: the next change makes it live again.
  saw.old = await page.evaluate(() => {
    live(false);
    return getComputedStyle(document.querySelector('main')).opacity;
  });
  // The browser tells of every answer that is no success.
  saw.errors = saw.errors.filter(it => !it.includes('status of 400'));
} finally {
  await browser.close();
}
console.log(JSON.stringify(saw));
