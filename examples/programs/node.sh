#!/bin/sh
# A node without a kit: a cache in sh that has no lock. It takes its time from the protocol, and needs jq and curl.
# isr-sim run --exec 'sh node.sh' two-contenders
echo '{"type": "hello", "versions": [1], "can": ["get", "reset"]}'
while read -r line; do
	field() { printf %s "$line" | jq -r "$1"; }
	dynamodb() { # an operation and its input
		curl -s "$endpoint/" -H "X-Amz-Target: DynamoDB_20120810.$1" \
			-H 'Content-Type: application/x-amz-json-1.0' -d "$2"
	}
	case $(field .type) in
	init)
		endpoint=$(field .endpoint) table=$(field .table) revalidate=$(field .config.revalidate)
		echo '{"type": "ready"}' ;;
	reset) echo '{"type": "ready"}' ;;
	end) exit ;;
	command)
		key=$(field .key) id=$(field .id)
		pk=CACHE#$(printf %s "$key" | sha256sum | cut -d' ' -f1)
		now=$(($(curl -s "$endpoint/_isr-sim/time") / 1000))
		row='"pk": {"S": "'$pk'"}, "sk": {"S": "META"}'
		meta=$(dynamodb GetItem '{"TableName": "'"$table"'", "ConsistentRead": true, "Key": {'"$row"'}}' |
			jq -r '.Item // empty')
		if [ -n "$meta" ] && [ "$now" -lt $(($(printf %s "$meta" | jq -r .generated_at.N) + revalidate)) ]; then
			body=$(curl -s "$endpoint/_isr-sim/bodies/$(printf %s "$meta" | jq -r '.s3_key.S | @uri')")
		else
			body=$(curl -s "$endpoint/_isr-sim/origin?key=$key")
			curl -s -X PUT --data "$body" "$endpoint/_isr-sim/bodies/$(printf %s "$body" | jq -Rr @uri)"
			dynamodb PutItem '{"TableName": "'"$table"'", "Item": {'"$row"', "s3_key": {"S": "'"$body"'"},
				"generated_at": {"N": "'$now'"}, "revalidate_seconds": {"N": "'"$revalidate"'"}}}' >&2
		fi
		printf '{"type": "reply", "id": %s, "body": "%s", "fresh": true}\n' "$id" "$body" ;;
	esac
done
