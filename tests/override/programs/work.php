<?php
// Blocks that one extension takes and another library frees: strings, XML, a database, JSON, expressions, many objects.
foreach (['mbstring', 'dom', 'SimpleXML', 'pdo_sqlite', 'zlib'] as $each) if (!extension_loaded($each)) exit(77);
$words = [];
for ($i = 0; $i < 20000; ++$i) $words["key$i"] = str_repeat(chr(97 + $i % 26), $i % 300);
echo count($words), ' ', md5(json_encode($words)), "\n";

$narrow = mb_convert_encoding(str_repeat('ü', 9000), 'ISO-8859-1', 'UTF-8');
echo mb_strtoupper('straße äöü ', 'UTF-8'), strlen($narrow), "\n";

$document = new DOMDocument();
$root = $document->appendChild($document->createElement('all'));
foreach (range(1, 3000) as $i) $root->appendChild($document->createElement('each', "value $i"))->setAttribute('id', $i);
$text = $document->saveXML();
echo strlen($text), ' ', count((new DOMXPath($document))->query('//each[@id mod 7 = 0]')), ' ',
    simplexml_load_string($text)->each[41], "\n";

$database = new PDO('sqlite::memory:');
$database->exec('create table words (number integer primary key, word text)');
$insert = $database->prepare('insert into words (word) values (?)');
foreach (range(1, 3000) as $i) $insert->execute([str_repeat('w', $i % 200)]);
print_r($database->query('select count(*), sum(length(word)) from words')->fetch(PDO::FETCH_NUM));

echo preg_replace_callback('/\b(\w)(\w*)\b/', fn($m) => strtoupper($m[1]) . $m[2], 'one two three'), "\n";
echo crc32(gzuncompress(gzcompress(str_repeat('compress me ', 100000)))), "\n";
usort($words, fn($a, $b) => strcmp($a, $b));
echo md5(implode('', $words)), "\n";
